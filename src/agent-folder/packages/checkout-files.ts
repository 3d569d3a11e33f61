import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { missingCodes, unlessCode } from '../../kit/errors.ts';

/**
 * The stats of a relative `path` below the real path `root`; undefined if it does not exist. Links are not followed:
 * what is behind one counts as missing.
 */
export function statBelow(root: string, path: string): Stats | undefined {
  const parent = dirname(path);
  return parent !== '.' && kindOfPath(root, parent) !== 'folders' ? undefined : statIfPresent(join(root, path));
}

/** Classifies a path below a folder: all parts are folders, one is missing, or one is something else. */
export function kindOfPath(root: string, path: string): 'folders' | 'not there' | 'blocked' {
  let current = root;
  for (const name of path.split('/')) {
    current = join(current, name);
    const found = statIfPresent(current);
    if (!found?.isDirectory()) return found ? 'blocked' : 'not there';
  }
  return 'folders';
}

const statIfPresent = (path: string): Stats | undefined =>
  unlessCode([...missingCodes, 'EACCES', 'ENAMETOOLONG'], undefined, () => lstatSync(path));

/** Reads up to `maxBytes` of a regular file below a folder; undefined if there is none. Follows no links. */
export function readBelow(root: string, path: string, maxBytes: number): Buffer | undefined {
  if (statBelow(root, path)?.isFile() !== true) return undefined;
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const descriptor = unlessCode(['ENOENT', 'EACCES', 'ELOOP'], undefined, () => openSync(join(root, path), flags));
  if (descriptor === undefined) return undefined;
  try {
    const bytes = Buffer.alloc(Math.min(fstatSync(descriptor).size, maxBytes));
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(descriptor);
  }
}
