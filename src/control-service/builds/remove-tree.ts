import { chmod, lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../postgres/embedded/file-errors.ts';
import type { ProcessUser } from '../compute/leashed-process.ts';
import { removeAs } from '../isolation/remove-as.ts';

/**
 * Removes a folder recursively, also where its folders are closed to their owner; ignores a missing one. As root, folders
 * of another user are emptied with that user's rights.
 */
export async function removeTree(root: string): Promise<void> {
  if (process.geteuid?.() === 0) await emptyOthers(root);
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async (error: unknown) => {
    // Even its owner can't remove entries of a folder without write permission.
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    await openFolders(root);
    await remove();
  });
}

async function emptyOthers(root: string): Promise<void> {
  const owner = await ownerOf(root);
  if (owner === 'none') return;
  if (owner !== 'ours') return removeOf(owner, root);
  for (const name of await readdir(root)) {
    const path = join(root, name);
    const of = await ownerOf(path);
    if (of !== 'ours' && of !== 'none') await removeOf(of, path);
  }
}

async function removeOf(user: ProcessUser, folder: string): Promise<void> {
  await removeAs(user, [folder]);
  await rmdir(folder).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
}

/** The owner of a folder; `none` where there is no folder: a file or a link is removed from its parent. */
async function ownerOf(path: string): Promise<ProcessUser | 'ours' | 'none'> {
  try {
    const found = await lstat(path);
    if (!found.isDirectory()) return 'none';
    return found.uid === 0 ? 'ours' : { uid: found.uid, gid: found.gid };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'none';
    throw error;
  }
}

/**
 * Makes every folder of a tree writable; does not follow links. The failed attempt may still be removing other parts:
 * skips what is gone.
 */
async function openFolders(folder: string): Promise<void> {
  try {
    await chmod(folder, 0o700);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) await openFolders(join(folder, entry.name));
    }
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
