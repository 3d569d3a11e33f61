import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../postgres/embedded/file-errors.ts';
import { removeAs } from './remove-as.ts';

/**
 * Removes a tree of root's that contains folders of other users: those with their users' rights, all else with root's, who
 * alone may change root's folders. Ignores what is missing.
 */
export async function removeApart(path: string): Promise<void> {
  try {
    const found = await lstat(path);
    if (!found.isDirectory()) return await unlink(path);
    if (found.uid !== 0) await removeAs({ uid: found.uid, gid: found.gid }, [path]);
    else for (const name of await readdir(path)) await removeApart(join(path, name));
    await rmdir(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
