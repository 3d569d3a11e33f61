/** Whether an error of the file system or of a signal carries one of these codes (`ENOENT`, `EEXIST`, ...). */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}

/** What an error says, whatever was thrown. One of several attempts (a name with two addresses) has no words itself. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
