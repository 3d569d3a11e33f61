import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { hasCode } from '../../database/embedded/file-errors.ts';

/**
 * The first `most` bytes of a file of a checkout, as text; `undefined` where there is no such file. The name may be a
 * link to anything on this machine: what is no plain file is not opened, for a device would never end.
 */
export function readBeginning(file: string, most: number): string | undefined {
  try {
    if (!statSync(file).isFile()) return undefined;
    const opened = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(most);
      return bytes.toString('utf8', 0, readSync(opened, bytes, 0, most, 0));
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES', 'ELOOP')) return undefined;
    throw error;
  }
}
