import type { Deployment } from '../../../contract/control/deployment.ts';
import { reservedNames } from '../../../contract/control/field-values.ts';
import type { Secret } from '../../../contract/control/secret.ts';

/** The edits of secrets. They contain no values that the service returned. */
export interface SecretEdits {
  /** New values of secrets that exist. */
  changed: ReadonlyMap<string, string>;
  removed: ReadonlySet<string>;
  added: readonly { key: number; name: string; value: string }[];
}

export const noSecretEdits: SecretEdits = { changed: new Map(), removed: new Set(), added: [] };

export const hasSecretEdits = ({ changed, removed, added }: SecretEdits): boolean =>
  changed.size > 0 || removed.size > 0 || added.length > 0;

/** The complete set of secrets to send: unchanged ones as they were read, and the changes; or the problem. */
export function secretsToSend(
  read: Deployment['secrets'],
  { changed, removed, added }: SecretEdits,
): { secrets: Secret[] } | { problem: string } {
  if (read == null) return { problem: 'The service does not list the secrets, so they cannot be changed here.' };
  const secrets: Secret[] = [];
  for (const { name, value } of read) {
    if (removed.has(name)) continue;
    const newValue = changed.get(name) ?? value;
    // Sending a secret without its value would delete it.
    if (newValue == null)
      return { problem: `The service does not return the value of ${name}. Set a new value, or remove it.` };
    secrets.push({ name, value: newValue });
  }
  const names = new Set(secrets.map(({ name }) => name));
  for (const { name, value } of added) {
    const problem = nameProblem(name, names) ?? (value === '' ? `Enter a value for ${name}.` : undefined);
    if (problem !== undefined) return { problem };
    names.add(name);
    secrets.push({ name, value });
  }
  return { secrets };
}

function nameProblem(name: string, existingNames: ReadonlySet<string>): string | undefined {
  if (name === '') return 'Enter a name for each new secret.';
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return `${name} is not a valid name for an environment variable. Use letters, digits and underscores.`;
  }
  if (reservedNames.has(name)) return `${name} is set by the platform. Choose another name.`;
  return existingNames.has(name)
    ? `${name} exists already. Choose another name, or set a new value for it.`
    : undefined;
}
