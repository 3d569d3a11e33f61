import { posix, dirname, isAbsolute, join, relative } from 'node:path';
import { ReadEntry, Unpack } from 'tar';
import { hasCode, messageOf } from '../../../kit/errors.ts';
import type { GuardedProcess } from '../compute/guarded-process.ts';
import { isWithin } from './build-folder.ts';
import { stepFailed, succeeded, type StepResult } from './build.ts';
import { chunksOf, waitForDrain } from './tar-bytes.ts';
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, readdir, readlink, rename, symlink, unlink } from 'node:fs/promises';

/** A process that writes a tar to its standard output. */
export type TarProcess = Pick<GuardedProcess, 'stdout' | 'stderr' | 'ended' | 'kill'>;

/** The most entries: far more than any agent's packages have. */
const maxEntries = 1_000_000;

/**
 * Extracts a tar of the folder `from`, which a process writes, into an empty folder of this service: only package
 * folders and their parents, with links that stay within `from`. Refuses a tar that would write anywhere else. The tar
 * is untrusted: other processes of the same user could make the process write anything.
 */
export async function extractPackages(
  { stdout, stderr, ended, kill }: TarProcess,
  { from, into }: { from: string; into: string },
): Promise<StepResult<'extracted'>> {
  let problem: string | undefined;
  const refuse = (reason: string): false => {
    problem ??= reason;
    kill();
    return false;
  };
  const files = new Set<string>();
  let entries = 0;
  const unpack = new Unpack({
    cwd: into,
    keep: true,
    noMtime: true,
    preserveOwner: false,
    filter(path, entry) {
      entries += 1;
      if (problem !== undefined || !(entry instanceof ReadEntry)) return false;
      if (entries > maxEntries) return refuse(`they are more than ${maxEntries} files`);
      if (!acceptEntry(path, entry, from)) return false;
      if (entry.type === 'Link' && !files.has(posix.normalize(entry.linkpath ?? ''))) {
        return refuse('a hard link among them is to something else than a file before it');
      }
      if (entry.type === 'File' || entry.type === 'OldFile') files.add(posix.normalize(path));
      return true;
    },
    onwarn(code, message) {
      if (code !== 'TAR_ENTRY_INFO') refuse(message);
    },
  });
  const closed = Promise.withResolvers<void>();
  const fail = (error: unknown): void => {
    refuse(messageOf(error));
    closed.resolve();
  };
  unpack.on('close', () => closed.resolve());
  unpack.on('error', fail);
  stderr.resume();
  const feed = async (): Promise<void> => {
    try {
      for await (const chunk of chunksOf(stdout))
        if (!unpack.write(chunk)) await Promise.race([waitForDrain(unpack), closed.promise]);
    } catch (error) {
      // A truncated stream is an error, even where it was cut between two files.
      refuse(hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE') ? 'their list was cut off' : messageOf(error));
    }
    unpack.end();
  };
  // The library throws for some invalid archives, which in a listener of the stream would end this service.
  feed().catch(fail);
  const end = await ended;
  await closed.promise;
  if (problem !== undefined) return stepFailed(`The installed packages could not be read: ${problem}.`);
  return end.kind === 'exited' && end.code === 0
    ? succeeded('extracted')
    : stepFailed('The installed packages could not be read.');
}

/** Whether an entry is extracted. Reduces its mode to the executable bit, and makes a link relative. */
function acceptEntry(path: string, entry: ReadEntry, from: string): boolean {
  if (!path.split('/').includes('node_modules')) return false;

  entry.mode = entry.type === 'Directory' || ((entry.mode ?? 0) & 0o100) !== 0 ? 0o755 : 0o644;
  if (entry.type !== 'SymbolicLink') return ['File', 'OldFile', 'Directory', 'Link'].includes(entry.type);
  const folder = posix.join(from, posix.dirname(path));
  const relativeTarget = posix.relative(folder, posix.resolve(folder, entry.linkpath ?? ''));
  entry.linkpath = relativeTarget === '' ? '.' : relativeTarget;
  return isWithin(from, posix.resolve(folder, relativeTarget));
}

/** The most files that are processed concurrently; each needs a descriptor or two. */
const maxConcurrent = 64;

/** Makes a tree safe to store: removes others' write permission, hard links, absolute inner links and special files. */
export async function sanitizeTree(root: string): Promise<void> {
  const paths: string[] = [];
  await sanitizeFolder(root, root, paths);
  await forEachConcurrently(paths, async (path) => {
    const { nlink, mode } = await lstat(path);
    if (nlink > 1) {
      const copy = `${path}.sealed`;
      await copyFile(path, copy, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      await rename(copy, path);
    }
    if ((mode & 0o7022) !== 0) await chmod(path, mode & 0o755);
  });
}

/** Measures a tree; links count as files. */
export async function sizeOf(root: string): Promise<{ files: number; bytes: number }> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  let bytes = 0;
  await forEachConcurrently(files, async ({ parentPath, name }) => {
    const { size } = await lstat(join(parentPath, name));
    bytes += size;
  });
  return { files: files.length, bytes };
}

async function sanitizeFolder(folder: string, root: string, files: string[]): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await sanitizeFolder(path, root, files);
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
async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const remaining = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const item of remaining) await work(item);
  };
  const results = await Promise.allSettled(Array.from({ length: maxConcurrent }, worker));
  for (const end of results) if (end.status === 'rejected') throw end.reason;
}
