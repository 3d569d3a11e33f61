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

/** What an error says with the place it was thrown at, for logs: such an error is a bug. */
export const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
