/** The code of an error (`ENOENT`, an SQLSTATE, ...), or an empty text. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Whether an error carries one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): error is Error & { code: string } =>
  codes.includes(codeOf(error));

/** What an error says, whatever was thrown. One of several attempts (a name with two addresses) has no words itself. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** What an error says with the place it was thrown at, for logs: such an error is a bug. */
export const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
