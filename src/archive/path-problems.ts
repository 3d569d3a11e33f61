import { join, sep } from 'node:path';
import type { Problem } from '../diagnostics/problem.ts';
import { longestName, longestPath } from './limits.ts';

/** A problem of something in a folder, named as a person would find it from the working directory. */
export const problemAt = (folder: string, path: string, message: string): Problem => ({
  file: join(folder, path)
    .split(sep)
    .join('/')
    .replace(/\p{Cc}/gu, '?'),
  line: 1,
  column: 1,
  field: '',
  message,
});

/** Why a name cannot be kept as it is on every machine. */
export function nameProblem(path: string, name: string): string | undefined {
  if (name.includes('\ufffd')) return 'its name is not UTF-8, so it cannot be kept';
  if (/[\p{Cc}\\]/u.test(name)) return 'its name holds a backslash or a control character: give it another one';
  if (Buffer.byteLength(name) > longestName) return `its name is longer than ${longestName} bytes`;
  return Buffer.byteLength(path) > longestPath ? `its path is longer than ${longestPath} bytes` : undefined;
}

/**
 * Why a link is not packed: it must lead to something within the folder, wherever that is unpacked. It may go up only at
 * its begin, because going up behind a name goes up from wherever a link of that name leads to.
 */
export function linkProblem(path: string, target: string): string | undefined {
  const out = 'this link leads out of the folder: put a copy in its place, or leave it out by an ignore file';
  if (target === '' || /[\p{Cc}\\]/u.test(target)) return 'this link holds a backslash or a control character';
  if (target.startsWith('/') || /^[A-Za-z]:/.test(target)) return out;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const down = parts.findIndex((part) => part !== '..');
  const up = down === -1 ? parts.length : down;
  if (up > path.split('/').length - 1) return out;
  return parts.slice(up).includes('..') ? 'this link goes up again behind a name: write it without' : undefined;
}

/** What the file system says about something that cannot be read. What is no word of the file system is thrown. */
export function readFailure(error: unknown): string {
  if (!(error instanceof Error && 'code' in error)) throw error;
  switch (error.code) {
    case 'ENOENT':
      return 'there is nothing here';
    case 'ENOTDIR':
      return 'this is no folder';
    case 'EACCES':
    case 'EPERM':
      return 'it may not be read: give this user the right to, or leave it out by an ignore file';
    default:
      return `it cannot be read (${String(error.code)})`;
  }
}
