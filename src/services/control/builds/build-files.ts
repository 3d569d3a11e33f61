import { constants, createReadStream, createWriteStream } from 'node:fs';
import { lstat, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { hasCode } from '../../../kit/errors.ts';
import type { BuildFolder } from './build-folder.ts';

/** The file that lists a build's files, in a folder that the build's commands can't write to. */
const listFile = (root: string): string => join(root, 'files.jsonl');

/** A line of the list: a path, and its description by `describeFile`. */
const entrySchema = z.tuple([z.string(), z.string()]);

/** The most files in a list: damage to further files is not detected. */
const maxFiles = 500_000;
/** How deep folders are listed: each level keeps a folder open. */
const maxDepth = 200;

/** Lists the files of a complete build with size, time and permissions, by which damage is detected later. */
export async function listBuildFiles({ root, source }: Pick<BuildFolder, 'root' | 'source'>): Promise<void> {
  const temporary = `${listFile(root)}.new`;
  await pipeline(Readable.from(linesOf(source)), createWriteStream(temporary, { mode: 0o600 }));
  await rename(temporary, listFile(root));
}

/** The first path in the source that has changed since the build; undefined where none has, or there is no list. */
export async function damagedFile({ root, source }: Pick<BuildFolder, 'root' | 'source'>): Promise<string | undefined> {
  const list = createReadStream(listFile(root), 'utf8');
  try {
    for await (const line of createInterface({ input: list })) {
      const [path, description] = entrySchema.parse(JSON.parse(line));
      if ((await describeFile(join(source, path))) !== description) return path === '' ? '.' : path;
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
  yield await listLine('', source);
  yield* linesBelow(source, '', 0, { files: maxFiles });
}

/**
 * Lists the entries of a folder. The deployment's agents could replace a folder by a link meanwhile, so each is opened
 * without following links, and its entries are read through its handle.
 */
async function* linesBelow(
  folder: string,
  path: string,
  depth: number,
  remaining: { files: number },
): AsyncGenerator<string> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  // Skip a folder that its owner can't read, or that was replaced: the agent can't read it either.
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => undefined);
  if (!handle) return;
  try {
    if (depth > maxDepth) return;
    const handlePath = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder;
    for (const entry of await readdir(handlePath, { withFileTypes: true })) {
      if ((remaining.files -= 1) < 0) return;
      const entryPath = path === '' ? entry.name : `${path}/${entry.name}`;
      yield await listLine(entryPath, join(handlePath, entry.name));
      if (entry.isDirectory()) yield* linesBelow(join(handlePath, entry.name), entryPath, depth + 1, remaining);
    }
  } finally {
    await handle.close();
  }
}

const listLine = async (path: string, file: string): Promise<string> =>
  `${JSON.stringify([path, await describeFile(file)])}\n`;

/** Describes a file: its kind, its owner's permissions and, of a regular file, its size and time. */
async function describeFile(path: string): Promise<string> {
  try {
    const stat = await lstat(path);
    const mode = (stat.mode & 0o700).toString(8);
    if (stat.isFile()) return `file ${mode} ${stat.size} ${Math.floor(stat.mtimeMs)}`;
    return stat.isDirectory() ? `folder ${mode}` : 'other';
  } catch {
    return 'none';
  }
}
