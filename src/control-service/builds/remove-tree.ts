import { chmod, lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../postgres/embedded/file-errors.ts';
import type { ProcessUser } from '../compute/leashed-process.ts';
import { removeAs } from '../isolation/remove-as.ts';

/**
 * Removes a folder with all that is in it, also where folders in it are closed to their owner; none is no error. As root,
 * what belongs to another user, the folder itself or one of those in it, is emptied with that user's rights.
 */
export async function removeTree(root: string): Promise<void> {
  if (process.geteuid?.() === 0) await emptyOthers(root);
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async (error: unknown) => {
    // Nothing can be taken out of a folder that a build closed, even by its owner.
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

/** Whose a folder is; `none` where there is no folder: a file or a link is removed from the folder that it lies in. */
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
 * Lets us write into every folder of a tree; links are not followed. The attempt that failed may still be removing other
 * parts of it: what is gone meanwhile needs no opening.
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
