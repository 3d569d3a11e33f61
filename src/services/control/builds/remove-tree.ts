import { randomUUID } from 'node:crypto';
import { chmod, lchown, lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { hasCode } from '../../../kit/errors.ts';

const maxConcurrent = 64;
/** How often to empty a folder again, while a process of this service's user still writes into it. */
const maxRounds = 4;

/**
 * Removes a file, or a folder with its content; ignores a missing one. Follows no links. No user can prevent it by
 * permissions, by depth, or by changing the tree meanwhile.
 *
 * As root, it changes the owner of every folder before it reads it, from the top down. Then no other process can replace
 * its entries, and every path that it uses leads through root's folders only.
 *
 * @param path in a folder that only this service's user may write to.
 */
export async function removeTree(path: string): Promise<void> {
  const found = await lstat(path).catch(ignoreMissing);
  if (!found) return;
  if (!found.isDirectory()) return unlink(path).catch(ignoreMissing);
  const top = Buffer.from(path);
  await takeFolder(top);
  for (let round = 1; ; round += 1) {
    await emptyFolder(top);
    try {
      return await rmdir(top).catch(ignoreMissing);
    } catch (error) {
      if (round === maxRounds || !hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    }
  }
}

/** Makes this service the only user of a folder. Removing the group's permissions disables access control lists too. */
async function takeFolder(folder: Buffer): Promise<void> {
  if (process.geteuid?.() === 0) await lchown(folder, 0, 0);
  await chmod(folder, 0o700);
}

/** Empties a folder. First moves its subfolders up into it, so that no path becomes too long for the system. */
async function emptyFolder(top: Buffer): Promise<void> {
  const folders = [top];
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    // A name can be any bytes, not only text.
    const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' }).catch(ignoreMissing);
    const names = (entries ?? []).filter((entry) => !entry.isDirectory()).values();
    const remove = async (): Promise<void> => {
      for (const { name } of names) await unlink(childPath(folder, name)).catch(ignoreMissing);
    };
    await Promise.all(Array.from({ length: maxConcurrent }, remove));
    for (const { name } of (entries ?? []).filter((entry) => entry.isDirectory())) {
      const child = childPath(folder, name);
      const moved = folder === top ? child : childPath(top, Buffer.from(randomUUID()));
      try {
        await takeFolder(child);
        if (moved !== child) await rename(child, moved);
        folders.push(moved);
      } catch (error) {
        ignoreMissing(error);
      }
    }
    if (folder !== top) await rmdir(folder).catch(ignoreMissing);
  }
}

const childPath = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, Buffer.from('/'), name]);

function ignoreMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
}
