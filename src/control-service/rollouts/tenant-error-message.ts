import { codeOf, messageOf } from '../../errors.ts';

/** Codes of a full disk: of the operating system, and of Postgres. */
const fullDisk = new Set(['ENOSPC', 'EDQUOT', '53100']);

/**
 * The message for a tenant about an unforeseen error. Messages of the operating system and of Postgres name paths and
 * statements of this service, which belong in its own log only.
 */
export function wordsForTenant(error: unknown): string {
  const code = nestedCodeOf(error);
  if (fullDisk.has(code)) {
    return 'The disk of this service is full. Try again when its operator has made room.';
  }
  if (code !== '') return `An error of its machine or database (${code}). The log of the service says more.`;
  return messageOf(error).replace(absolutePath, 'a file of the service');
}

const absolutePath = /(?<![\w.:/-])\/[^\s'"`(),;]+/g;

/** The code of an error or of its causes, down to a fixed depth. */
function nestedCodeOf(error: unknown, left = 8): string {
  if (!(error instanceof Error) || left === 0) return '';
  return codeOf(error) || nestedCodeOf(error.cause, left - 1);
}
