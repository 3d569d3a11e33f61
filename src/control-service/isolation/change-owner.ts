import { lchown, lstat, readdir } from 'node:fs/promises';
import { hasCode } from '../../errors.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';

/**
 * Gives a tree to a user; does not follow links. Call it before any process of that user can reach the tree, so that no
 * part is replaced meanwhile, and never for a tree that shares files with another one by hard links.
 */
export async function changeOwner(path: string | Buffer, user: ProcessUser): Promise<void> {
  const found = await lstat(path);
  if (found.isDirectory()) {
    // A name is whatever bytes a commit says, and need not be text.
    const names = await readdir(path, 'buffer');
    for (const name of names) await changeOwner(Buffer.concat([Buffer.from(path), Buffer.from('/'), name]), user);
  }
  await lchown(path, user.uid, user.gid);
}

/** Gives a tree to a user unless it is theirs already; ignores a missing one. */
export async function changeOwnerIfNeeded(path: string, user: ProcessUser): Promise<void> {
  try {
    if ((await lstat(path)).uid !== user.uid) await changeOwner(path, user);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
