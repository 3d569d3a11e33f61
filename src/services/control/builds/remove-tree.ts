import { randomUUID } from 'node:crypto';
import { chmod, lchown, lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { hasCode } from '../../../kit/errors.ts';

const atOnce = 64;
/** How often a folder is emptied again into which a process of this service's own user still writes. */
const maxRounds = 4;

/**
 * Removes a folder with all that is in it, or a file; none is no error. No link is followed, and no user can keep a
 * tree by closing its folders, by their depth, or by changing it meanwhile.
 *
 * As root it takes every folder from its user before it looks into it, from the top down: then no other process can
 * exchange what lies in there, and every path that is used leads through folders of root's alone.
 *
 * @param path lies in a folder that no other user than this service's own may write to.
 */
export async function removeTree(path: string): Promise<void> {
  const found = await lstat(path).catch(ignoreMissing);
  if (!found) return;
  if (!found.isDirectory()) return unlink(path).catch(ignoreMissing);
  const top = Buffer.from(path);
  await takeFolder(top);
  for (let round = 1; ; round += 1) {
    await empty(top);
    try {
      return await rmdir(top).catch(ignoreMissing);
    } catch (error) {
      if (round === maxRounds || !hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    }
  }
}

/** Makes a folder this service's own alone. Permissions of an access control list end with those of its group. */
async function takeFolder(folder: Buffer): Promise<void> {
  if (process.geteuid?.() === 0) await lchown(folder, 0, 0);
  await chmod(folder, 0o700);
}

/** Empties a folder. Those below it are moved up into it first, so that no path becomes longer than the system takes. */
async function empty(top: Buffer): Promise<void> {
  const folders = [top];
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    // A name is whatever bytes its maker chose, and need not be text.
    const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' }).catch(ignoreMissing);
    const names = (entries ?? []).filter((entry) => !entry.isDirectory()).values();
    const remove = async (): Promise<void> => {
      for (const { name } of names) await unlink(below(folder, name)).catch(ignoreMissing);
    };
    await Promise.all(Array.from({ length: atOnce }, remove));
    for (const { name } of (entries ?? []).filter((entry) => entry.isDirectory())) {
      const found = below(folder, name);
      const moved = folder === top ? found : below(top, Buffer.from(randomUUID()));
      try {
        await takeFolder(found);
        if (moved !== found) await rename(found, moved);
        folders.push(moved);
      } catch (error) {
        ignoreMissing(error);
      }
    }
    if (folder !== top) await rmdir(folder).catch(ignoreMissing);
  }
}

const below = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, Buffer.from('/'), name]);

function ignoreMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
}
