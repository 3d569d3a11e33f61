import { codeOf } from '../../src/errors.ts';
import { isDatabaseUnavailable } from '../../src/postgres/unavailable.ts';

/** Storing failed, or its result is unknown. The same delivery may be sent again. */
export class StorageError extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.name = 'StorageError';
  }
}

/** SQLSTATEs of a server that has run out of something: disk, memory. */
const fullStates: Readonly<Record<string, string>> = {
  '53100': 'the disk of the database is full',
  '53200': 'the database has run out of memory',
  '58030': 'the database can not write to its disk',
};

/** SQLSTATEs of two writers in each other's way. */
const passing = new Set(['40001', '40P01']);

/** Turns a transient database error into a `StorageError`; any other error is returned as it is. */
export function toStorageError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  const code = codeOf(error);
  const full = fullStates[code];
  if (full !== undefined) return new StorageError(full, error);
  if (passing.has(code) || code.startsWith('53')) return new StorageError('the database is busy', error);
  return isDatabaseUnavailable(error) ? new StorageError('the database is away', error) : error;
}
