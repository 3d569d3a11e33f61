import type { Secret, SecretReference } from '../contract/control/secret.ts';
import type { SecretsStrategy } from '../config/desired.ts';
import type { FieldChange, Obstacle } from './plan-types.ts';

/** What becomes of the set of secrets. `set` is the whole set to send, absent where nothing differs. */
export interface SecretsComparison {
  set?: readonly Secret[];
  changes: readonly FieldChange[];
  obstacles: readonly Obstacle[];
}

/**
 * Compares the requested secrets with the current ones. PATCH replaces the whole set (control-service.md, Secret), so
 * `merge` sends the union of both. Values are compared and never shown.
 */
export function compareSecrets(
  requested: readonly Secret[] | undefined,
  strategy: SecretsStrategy,
  held: readonly Secret[],
): SecretsComparison {
  if (requested === undefined) return { changes: [], obstacles: [] };
  const wanted = new Map(requested.map(({ name, value }) => [name, value]));
  const there = new Map(held.map(({ name, value }) => [name, value]));
  const kept = held.filter(({ name }) => strategy === 'merge' && !wanted.has(name));
  const changes: FieldChange[] = [];
  for (const [name, value] of wanted) {
    const is = there.get(name);
    if (is === value) continue;
    changes.push(
      is === undefined ? change(name, undefined, 'set', 'it is not there') : change(name, 'set', 'set', 'it differs'),
    );
  }
  for (const name of there.keys()) {
    if (wanted.has(name) || strategy === 'merge') continue;
    changes.push(change(name, 'set', undefined, 'it is not in the configuration, and secrets-strategy is overwrite'));
  }
  if (changes.length === 0) return { changes, obstacles: [] };
  return {
    set: [
      ...kept.map(({ name, value }) => ({ name, value })),
      ...[...wanted].map(([name, value]) => ({ name, value })),
    ],
    changes,
    obstacles: kept.filter(({ value }) => isMask(value)).map(({ name }) => maskedSecret(name)),
  };
}

/** `secret_references` are replaced whole, in place (control-service.md, SecretReference). Their order means nothing. */
export function compareReferences(
  requested: readonly SecretReference[] | undefined,
  held: readonly SecretReference[] | null | undefined,
): FieldChange[] {
  if (requested === undefined) return [];
  const wanted = new Map(requested.map((reference) => [reference.name, source(reference)]));
  const there = new Map((held ?? []).map((reference) => [reference.name, source(reference)]));
  return [...new Set([...wanted.keys(), ...there.keys()])]
    .filter((name) => wanted.get(name) !== there.get(name))
    .map((name) => ({
      field: `secret_references.${name}`,
      from: there.get(name),
      to: wanted.get(name),
      makesRevision: false,
      why: wanted.has(name)
        ? 'it differs, and it takes effect with the next revision'
        : 'it is not in the configuration, and the list is replaced whole',
    }));
}

const source = ({ secret_name, secret_key }: SecretReference) => `${secret_name}/${secret_key}`;

const change = (name: string, from: string | undefined, to: string | undefined, why: string): FieldChange => ({
  field: `secrets.${name}`,
  from,
  to,
  makesRevision: true,
  why,
});

/** Sending back the asterisks of a service that hides values would overwrite the secret with them. */
const isMask = (value: string): boolean => /^[*•]{3,}$/.test(value);

const maskedSecret = (name: string): Obstacle => ({
  field: `secrets.${name}`,
  problem: 'the service hides its value, and a change of any secret replaces all of them, so it would be lost',
  advice: `Give ${name} in secrets too, or set secrets-strategy to overwrite if it may go.`,
});
