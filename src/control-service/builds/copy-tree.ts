import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, readlink, rename, symlink, unlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';

/** How large a tree is. */
export interface TreeSize {
  files: number;
  bytes: number;
}

/** How many files are worked on at the same time; each takes a descriptor or two. */
const atOnce = 64;

/**
 * Copies a folder with all that is in it to a place where nothing is yet. Every file is a file of its own: the blocks are
 * shared where the file system can (reflink) and copied where it can't, and never is one file in two places (a hard
 * link), through which whoever may write to one would write to the other. Links are copied as they are and not followed.
 */
export async function copyTree(from: string, to: string): Promise<TreeSize> {
  const size = { files: 0, bytes: 0 };
  const files: [from: string, to: string][] = [];
  await copyFolders(from, to, files);
  await eachAtOnce(files, async ([source, target]) => {
    await copyFile(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    size.files += 1;
    size.bytes += (await lstat(target)).size;
  });
  return size;
}

/** Makes the folders and links, and notes the files. What is neither (a device, a socket) is left out. */
async function copyFolders(from: string, to: string, files: [string, string][]): Promise<void> {
  await mkdir(to, { mode: 0o755 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyFolders(source, target, files);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (entry.isFile()) files.push([source, target]);
  }
}

/**
 * Makes a tree that a build's commands made, as this service's own user, fit to be kept: nobody else may write to it, a
 * file that lies elsewhere too (a hard link) becomes one of its own, links that name the tree's own place by its full path
 * are made relative, and what is no file, folder or link is removed.
 */
export async function sealTree(root: string): Promise<TreeSize> {
  const size = { files: 0, bytes: 0 };
  const paths: string[] = [];
  await sealFolder(root, root, paths);
  await eachAtOnce(paths, async (path) => {
    const { nlink, mode } = await lstat(path);
    if (nlink > 1) {
      const alone = `${path}.sealed`;
      await copyFile(path, alone, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      await rename(alone, path);
    }
    await chmod(path, plainMode(mode));
    size.files += 1;
    size.bytes += (await lstat(path)).size;
  });
  return size;
}

/** Whether a file can be run is all that is kept of its mode. */
export const plainMode = (mode: number): number => ((mode & 0o100) === 0 ? 0o644 : 0o755);

async function sealFolder(folder: string, root: string, files: string[]): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await sealFolder(path, root, files);
    else if (entry.isFile()) files.push(path);
    else if (entry.isSymbolicLink()) await makeRelative(path, root);
    else await unlink(path);
  }
}

async function makeRelative(path: string, root: string): Promise<void> {
  const target = await readlink(path);
  if (!isAbsolute(target) || relative(root, target).startsWith('..')) return;
  await unlink(path);
  await symlink(relative(dirname(path), target), path);
}

/** Works on all of them, so many at a time; what one fails with is thrown when those at work have ended. */
async function eachAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
