import { constants, createReadStream, createWriteStream } from 'node:fs';
import { lstat, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { hasCode } from '../../postgres/embedded/file-errors.ts';
import type { BuildFolder } from './build-folder.ts';

/** Where the list of a build's files lies: beside its source, in a folder that no command of a build may write to. */
const listOf = (root: string): string => join(root, 'files.jsonl');

/** One of them: its path, what it is, what its owner may do with it, and of a file its size and date. */
const listed = z.tuple([z.string(), z.string()]);

/** Beyond so many files a build has no list, and what happens to it is not seen. */
const mostFiles = 500_000;
/** Folders deeper than this are not listed: each on the way is open meanwhile. */
const deepest = 200;

/**
 * Writes down what a build consists of as it is complete, without reading the files: damage shows in what there is, how
 * large it is, when it was written and whether its owner may read it.
 */
export async function listBuildFiles({ root, source }: Pick<BuildFolder, 'root' | 'source'>): Promise<void> {
  const temporary = `${listOf(root)}.new`;
  await pipeline(Readable.from(linesOf(source)), createWriteStream(temporary, { mode: 0o600 }));
  await rename(temporary, listOf(root));
}

/**
 * Looks for damage to a build.
 *
 * @returns the path in its source of the first thing that is not as it was when the build was made; undefined where all
 * is, or where that was not written down.
 */
export async function damagedFile({ root, source }: Pick<BuildFolder, 'root' | 'source'>): Promise<string | undefined> {
  const list = createReadStream(listOf(root), 'utf8');
  try {
    for await (const line of createInterface({ input: list })) {
      const [path, look] = listed.parse(JSON.parse(line));
      if ((await lookOf(join(source, path))) !== look) return path === '' ? '.' : path;
    }
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError || hasCode(error, 'ENOENT')) return undefined;
    throw error;
  } finally {
    list.destroy();
  }
}

async function* linesOf(source: string): AsyncGenerator<string> {
  const left = { files: mostFiles };
  yield await line('', source);
  yield* linesBelow(source, '', 0, left);
}

/**
 * The lines of what lies in a folder. The agents of the deployment may exchange a folder for a link while it is read: each
 * is opened without following one, and what lies in it is reached through its handle.
 */
async function* linesBelow(
  folder: string,
  path: string,
  depth: number,
  left: { files: number },
): AsyncGenerator<string> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  // A folder that a build closed to its owner, or replaced, holds nothing that its agent could read.
  const opened = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => undefined);
  if (!opened) return;
  try {
    if (depth > deepest) return;
    const handle = process.platform === 'linux' ? `/proc/self/fd/${opened.fd}` : folder;
    for (const entry of await readdir(handle, { withFileTypes: true })) {
      if ((left.files -= 1) < 0) return;
      const below = path === '' ? entry.name : `${path}/${entry.name}`;
      yield await line(below, join(handle, entry.name));
      if (entry.isDirectory()) yield* linesBelow(join(handle, entry.name), below, depth + 1, left);
    }
  } finally {
    await opened.close();
  }
}

const line = async (path: string, file: string): Promise<string> => `${JSON.stringify([path, await lookOf(file)])}\n`;

async function lookOf(path: string): Promise<string> {
  try {
    const found = await lstat(path);
    const mode = (found.mode & 0o700).toString(8);
    if (found.isFile()) return `file ${mode} ${found.size} ${Math.floor(found.mtimeMs)}`;
    return found.isDirectory() ? `folder ${mode}` : 'other';
  } catch {
    return 'none';
  }
}
