import { constants, createReadStream, createWriteStream } from 'node:fs';
import { lstat, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { hasCode } from '../../../kit/errors.ts';
import type { BuildFolder } from './build-folder.ts';

/** The list of a build's files: beside its source, in a folder that the build's commands can't write to. */
const listOf = (root: string): string => join(root, 'files.jsonl');

/** An entry: its path, its kind, its owner's permissions, and of a file its size and time. */
const listed = z.tuple([z.string(), z.string()]);

/** The most files in a list: a larger build has none, and damage to it is not detected. */
const maxFiles = 500_000;
/** The depth of folders that is listed: each level keeps a folder open. */
const deepest = 200;

/** Records the files of a complete build without reading them: damage shows in their size, time and permissions. */
export async function listBuildFiles({ root, source }: Pick<BuildFolder, 'root' | 'source'>): Promise<void> {
  const temporary = `${listOf(root)}.new`;
  await pipeline(Readable.from(linesOf(source)), createWriteStream(temporary, { mode: 0o600 }));
  await rename(temporary, listOf(root));
}

/** The path in its source of the first change since the build; undefined where there is none, or no list. */
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
  yield await line('', source);
  yield* linesBelow(source, '', 0, { files: maxFiles });
}

/**
 * The list entries of a folder. The deployment's agents could replace a folder by a link during the scan, so each is
 * opened without following links, and its entries are read through its handle.
 */
async function* linesBelow(
  folder: string,
  path: string,
  depth: number,
  left: { files: number },
): AsyncGenerator<string> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  // A folder that its owner can't read, or that was replaced, has nothing that the agent could read.
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
