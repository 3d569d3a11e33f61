/** The code of an error (`ENOENT`, an SQLSTATE, ...), or an empty text. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Whether an error carries one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): error is Error & { code: string } =>
  codes.includes(codeOf(error));

/** The result of some work; `otherwise` where it fails with one of these codes. */
export function unlessCode<T, O>(codes: readonly string[], otherwise: O, work: () => T): T | O {
  try {
    return work();
  } catch (error) {
    if (hasCode(error, ...codes)) return otherwise;
    throw error;
  }
}

/** The codes of a file or folder that is not there. */
export const missingCodes = ['ENOENT', 'ENOTDIR'] as const;

/** What an error says, whatever was thrown. One of several attempts (a name with two addresses) has no words itself. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** What was thrown, as an error. */
export const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** The most errors of a chain of causes. */
const maxCauses = 10;

/** What was thrown, and what caused it, the first cause last; at most ten. */
export function chainOf(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at = thrown; chain.length < maxCauses && !chain.includes(at); at = at.cause) {
    chain.push(at);
    if (!(at instanceof Error) || at.cause === undefined || at.cause === null) break;
  }
  return chain;
}

/**
 * What an error says with the place it was thrown at, for logs: such an error is a bug, or an agent's. Its causes follow,
 * since a library's own error often says no more than that something failed.
 */
export const stackOf = (error: unknown): string => chainOf(error).map(ownStack).join('\nCaused by: ');

/** Whether a value that was thrown, such as `{ code: 'denied' }`, can be shown as JSON. */
function isPlain(thrown: unknown): boolean {
  try {
    return typeof thrown === 'object' && typeof JSON.stringify(thrown) === 'string';
  } catch {
    return false;
  }
}

function ownStack(error: unknown): string {
  if (!(error instanceof Error)) return isPlain(error) ? JSON.stringify(error) : String(error);
  // An agent's error may have anything there.
  const [stack, message]: unknown[] = [error.stack, error.message];
  const text = typeof stack === 'string' && stack !== '' ? stack : String(message);
  const parts = error instanceof AggregateError ? error.errors.map((each) => `\n  - ${messageOf(each)}`).join('') : '';
  // Libraries make errors of errors: `new Error(String(error))`.
  return `${text.replace(/^(\w+): (?:\1: )+/, '$1: ')}${parts}`;
}
