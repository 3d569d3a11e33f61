import { chmodSync, lchownSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../kit/errors.ts';
import type { BuildProgram } from '../compute/compute.ts';
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

/**
 * Gives an agent's process access to its build and its home. A build from before its deployment had a user changes
 * owner, folder by folder; the parent folder stays ours and may be traversed.
 */
export async function openFolders({ folder, homeFolder }: BuildProgram, user: ProcessUser | undefined): Promise<void> {
  const made = mkdirSync(homeFolder, { recursive: true, mode: 0o700 });
  if (!user) return;
  // Does not follow a link that the user's processes may have put in the home's place.
  if (made !== undefined) lchownSync(homeFolder, user.uid, user.gid);
  if (lstatSync(folder).uid === user.uid) return;
  chmodSync(folder, 0o711);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await changeOwnerIfNeeded(join(folder, entry.name), user);
  }
}
