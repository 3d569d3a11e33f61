import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { missingCodes, unlessCode } from '../../kit/errors.ts';

/**
 * The stats of a relative `path` below the real path `root`; undefined where nothing exists. What is behind a link, in
 * any part of the path, counts as missing.
 */
export function statBelow(root: string, path: string): Stats | undefined {
  const parent = dirname(path);
  return parent !== '.' && kindOfPath(root, parent) !== 'folders' ? undefined : lookAt(join(root, path));
}

/** Classifies the parts of a path below a folder: all folders, some missing, or something else among them. */
export function kindOfPath(root: string, path: string): 'folders' | 'not there' | 'blocked' {
  let reached = root;
  for (const name of path.split('/')) {
    reached = join(reached, name);
    const found = lookAt(reached);
    if (!found?.isDirectory()) return found ? 'blocked' : 'not there';
  }
  return 'folders';
}

const lookAt = (path: string): Stats | undefined =>
  unlessCode([...missingCodes, 'EACCES', 'ENAMETOOLONG'], undefined, () => lstatSync(path));

/** The first `most` bytes of a regular file below a folder, if any. Follows no links, and reads no endless devices. */
export function readBelow(root: string, path: string, most: number): Buffer | undefined {
  if (statBelow(root, path)?.isFile() !== true) return undefined;
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const opened = unlessCode(['ENOENT', 'EACCES', 'ELOOP'], undefined, () => openSync(join(root, path), flags));
  if (opened === undefined) return undefined;
  try {
    const bytes = Buffer.alloc(Math.min(fstatSync(opened).size, most));
    return bytes.subarray(0, readSync(opened, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(opened);
  }
}
