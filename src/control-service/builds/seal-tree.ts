import { constants } from 'node:fs';
import { chmod, copyFile, lstat, readdir, readlink, rename, symlink, unlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';

/** The most files that are processed concurrently; each needs a descriptor or two. */
const atOnce = 64;

/**
 * Makes a tree that a build's commands wrote as this service's own user safe to store: removes the write permission of
 * others, copies files that have hard links outside the tree, makes absolute links into the tree relative, and removes
 * everything but files, folders and links.
 */
export async function sealTree(root: string): Promise<void> {
  const paths: string[] = [];
  await sealFolder(root, root, paths);
  await eachAtOnce(paths, async (path) => {
    const { nlink, mode } = await lstat(path);
    if (nlink > 1) {
      const alone = `${path}.sealed`;
      await copyFile(path, alone, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      await rename(alone, path);
    }
    if ((mode & 0o7022) !== 0) await chmod(path, mode & 0o755);
  });
}

/** The size of a tree of regular files. */
export interface TreeSize {
  files: number;
  bytes: number;
}

/** Measures a tree; links count as files. */
export async function sizeOf(root: string): Promise<TreeSize> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const total = { files: files.length, bytes: 0 };
  await eachAtOnce(files, async ({ parentPath, name }) => {
    const { size } = await lstat(join(parentPath, name));
    total.bytes += size;
  });
  return total;
}

/** Keeps only the executable bit of a file's mode. */
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

/** Processes all items with limited concurrency; throws the first error after the running ones have ended. */
async function eachAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
