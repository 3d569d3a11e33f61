import {
  knownSecrets,
  shownValue,
  type Secret,
  type SecretReference,
  type SecretReply,
} from '../../contract/control/secret.ts';
import type { SecretsStrategy } from '../file/desired.ts';
import type { ChangeReason, FieldChange, Obstacle } from './plan-types.ts';

type SecretCode = Extract<ChangeReason['code'], `secret${string}`>;

/** What becomes of the set of secrets. `set` is the whole set to send, absent if nothing is sent. */
export interface SecretsComparison {
  set?: readonly Secret[];
  changes: readonly FieldChange[];
  obstacles: readonly Obstacle[];
  /** Whether a name or a value is known to differ; hidden values don't count. */
  differs: boolean;
}

/**
 * Compares the requested secrets with the current ones. PATCH replaces the whole set (docs/design/contract.md#secrets),
 * so `merge` sends the union of both. Values are compared and never shown. A value that the service hides can't be
 * compared: it is replaced if one is given, and blocks the plan if it must be kept.
 *
 * @param replies undefined or null if the service does not list secrets.
 */
export function compareSecrets(
  requested: readonly Secret[] | undefined,
  strategy: SecretsStrategy,
  replies: readonly SecretReply[] | null | undefined,
): SecretsComparison {
  if (requested === undefined) return same;
  if (!replies) return compareUnlisted(requested, strategy);
  const wanted = new Map(requested.map(({ name, value }) => [name, value]));
  const there = new Map(replies.map((each) => [each.name, each]));
  const kept = replies.filter(({ name }) => strategy === 'merge' && !wanted.has(name));
  const changes: FieldChange[] = [];
  const unknown: FieldChange[] = [];
  for (const [name, value] of wanted) {
    const is = there.get(name);
    if (is === undefined) changes.push(change(name, undefined, 'set', 'secret-missing'));
    else if (is.value === value) continue;
    else if (shownValue(is) === undefined) unknown.push(change(name, 'set', 'set', 'secret-hidden'));
    else changes.push(change(name, 'set', 'set', 'secret-differs'));
  }
  for (const name of there.keys()) {
    if (wanted.has(name) || strategy === 'merge') continue;
    changes.push(change(name, 'set', undefined, 'secret-dropped'));
  }
  const differs = changes.length > 0;
  if (!differs && unknown.length === 0) return same;
  return {
    set: [
      ...kept.flatMap((each) => knownSecrets([each]) ?? []),
      ...[...wanted].map(([name, value]) => ({ name, value })),
    ],
    changes: [...changes, ...unknown],
    obstacles: kept.filter((each) => shownValue(each) === undefined).map(({ name }) => hiddenSecret(name)),
    differs,
  };
}

const same: SecretsComparison = { changes: [], obstacles: [], differs: false };

function compareUnlisted(requested: readonly Secret[], strategy: SecretsStrategy): SecretsComparison {
  if (requested.length === 0) return same;
  if (strategy === 'overwrite') {
    const changes = requested.map(({ name }) => change(name, undefined, 'set', 'secrets-unlisted'));
    return { set: requested, changes, obstacles: [], differs: false };
  }
  return { changes: [], obstacles: [{ field: 'secrets', code: 'secrets-unlisted' }], differs: false };
}

/** `secret_references` are replaced whole, in place (docs/design/contract.md#secrets). Their order means nothing. */
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
      why: wanted.has(name) ? { code: 'differs', patch: 'next-revision' } : { code: 'reference-dropped' },
    }));
}

const source = ({ secret_name, secret_key }: SecretReference) => `${secret_name}/${secret_key}`;

const change = (name: string, from: 'set' | undefined, to: 'set' | undefined, code: SecretCode): FieldChange => ({
  field: `secrets.${name}`,
  from,
  to,
  makesRevision: true,
  why: { code },
});

/** Sending back what a service shows instead of a value would overwrite the secret with it. */
const hiddenSecret = (name: string): Obstacle => ({ field: `secrets.${name}`, code: 'secret-lost' });
