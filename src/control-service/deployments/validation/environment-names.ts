import { reservedNames } from '../../../contract/control/reserved-names.ts';
import type { Secret, SecretReference } from '../../../contract/control/secret.ts';

/** Variables that change how an agent starts here, besides those of every platform: secrets can't use these names. */
const reservedHere = new Set([
  'HOST',
  'HOME',
  'NODE_OPTIONS',
  'NODE_PATH',
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'LANGSMITH_TRACING',
  'LANGSERVE_GRAPHS',
]);
const reservedPrefix = 'LANDFALL_';

/** The longest value of a variable, in bytes: Linux' limit of one string, minus room for the name. */
export const longestValue = 120_000;

/** True for the names of variables that a deployment cannot set. */
const isReserved = (name: string): boolean =>
  reservedNames.has(name) || reservedHere.has(name) || name.startsWith(reservedPrefix);

/** The problems with a deployment's variables. Never contains a value. */
export function environmentProblems(
  secrets: readonly Secret[],
  references: readonly SecretReference[] | null | undefined,
): string[] {
  const reported: string[] = [];
  const seen = new Set<string>();
  for (const [field, name] of [
    ...secrets.map(({ name }) => ['secrets', name] as const),
    ...(references ?? []).map(({ name }) => ['secret_references', name] as const),
  ]) {
    const quoted = JSON.stringify(name.slice(0, 80));
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      reported.push(`${field}: ${quoted} is no name of an environment variable; use letters, digits and underscores.`);
    } else if (isReserved(name)) {
      reported.push(`${field}: ${quoted} is set by the platform itself; choose another name.`);
    }
    if (seen.has(name)) reported.push(`${field}: ${quoted} is given more than once.`);
    seen.add(name);
  }
  for (const { name, value } of secrets) {
    if (Buffer.byteLength(value) > longestValue) {
      reported.push(`secrets: the value of ${JSON.stringify(name.slice(0, 80))} is longer than ${longestValue} bytes.`);
    }
  }
  return reported;
}
