import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, readdir, rename } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { hasCode } from '../../database/embedded/file-errors.ts';
import type { BuildFolder } from './build-folder.ts';

/** Where the list of a build's files lies: beside its source, in a folder that no command of a build may write to. */
const listOf = (root: string): string => join(root, 'files.jsonl');

/** One of them: its path, what it is, what its owner may do with it, and of a file its size and date. */
const listed = z.tuple([z.string(), z.string()]);

/** Beyond so many files a build has no list, and what happens to it is not seen. */
const mostFiles = 500_000;

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
  const folders = [source];
  let left = mostFiles;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    yield await line(source, folder);
    // A folder that a build closed to its owner holds nothing that its agent could read.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if ((left -= 1) < 0) return;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else yield await line(source, path);
    }
  }
}

const line = async (source: string, path: string): Promise<string> =>
  `${JSON.stringify([relative(source, path), await lookOf(path)])}\n`;

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
