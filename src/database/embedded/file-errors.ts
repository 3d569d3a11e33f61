/** Whether an error of the file system or of a signal carries one of these codes (`ENOENT`, `EEXIST`, ...). */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}
