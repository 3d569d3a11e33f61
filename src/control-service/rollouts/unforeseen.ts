/** Codes of a full disk: of the operating system, and of Postgres. */
const fullDisk = new Set(['ENOSPC', 'EDQUOT', '53100']);

/**
 * The message for a tenant about an unforeseen error. Messages of the operating system and of Postgres name paths and
 * statements of this service, which belong in its own log only.
 */
export function wordsForTenant(error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined && fullDisk.has(code)) {
    return 'The disk of this service is full. Try again when its operator has made room.';
  }
  if (code !== undefined) return `An error of its machine or database (${code}). The log of the service says more.`;
  return (error instanceof Error ? error.message : String(error)).replace(absolutePath, 'a file of the service');
}

const absolutePath = /(?<![\w.:/-])\/[^\s'"`(),;]+/g;

/** The code of an error or of its causes, down to a fixed depth. */
function codeOf(error: unknown, left = 8): string | undefined {
  if (!(error instanceof Error) || left === 0) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause, left - 1);
}
