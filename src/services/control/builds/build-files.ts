import { constants, createReadStream, createWriteStream, type Stats } from 'node:fs';
import { lstat, open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { hasCode } from '../../../kit/errors.ts';
import type { BuildFolder } from './build-folder.ts';

/** The file that lists a build's files, in a folder that the build's commands can't write to. */
const listFile = (root: string): string => join(root, 'files.jsonl');

/** A line of the list: a path, its description by `describeFile`, and its inode, which lists of before do not have. */
const entrySchema = z.tuple([z.string(), z.string()], z.string());

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
    if (isNoList(error)) return undefined;
    throw error;
  } finally {
    list.destroy();
  }
}

const isNoList = (error: unknown): boolean =>
  error instanceof SyntaxError || error instanceof z.ZodError || hasCode(error, 'ENOENT');

/** A file or folder as it was listed. */
export interface ListedEntry {
  description: string;
  inode: string | undefined;
}

/** The files and folders of a build as they were listed, by their paths, and when (ms since the epoch). */
export interface BuildList {
  entries: Map<string, ListedEntry>;
  at: number;
}

/** The list of a build's files; undefined where there is none, or it is not known to be complete. */
export async function readBuildList(root: string): Promise<BuildList | undefined> {
  try {
    const lines = (await readFile(listFile(root), 'utf8')).trimEnd().split('\n');
    const entries = new Map<string, ListedEntry>();
    for (const line of lines) {
      const [path, description, inode] = entrySchema.parse(JSON.parse(line));
      if (path !== '') entries.set(path, { description, inode });
    }
    if (entries.size >= maxFiles) return undefined;
    return { entries, at: (await lstat(listFile(root))).mtimeMs };
  } catch (error) {
    if (isNoList(error)) return undefined;
    throw error;
  }
}

async function* linesOf(source: string): AsyncGenerator<string> {
  yield await listLine('', source);
  for await (const { path, file } of walkBuild(source)) yield await listLine(path, file);
}

/** An entry of a build's source: its path there, and a path by which it can be reached until the next entry is asked for. */
interface BuildEntry {
  path: string;
  file: string;
}

/**
 * Walks the files and folders of a build's source, folders first. The deployment's agents could replace a folder by a
 * link meanwhile, so each is opened without following links, and its entries are read through its handle.
 */
export async function* walkBuild(source: string): AsyncGenerator<BuildEntry> {
  yield* walkBelow(source, '', 0, { files: maxFiles });
}

async function* walkBelow(
  folder: string,
  path: string,
  depth: number,
  remaining: { files: number },
): AsyncGenerator<BuildEntry> {
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
      yield { path: entryPath, file: join(handlePath, entry.name) };
      if (entry.isDirectory()) yield* walkBelow(join(handlePath, entry.name), entryPath, depth + 1, remaining);
    }
  } finally {
    await handle.close();
  }
}

async function listLine(path: string, file: string): Promise<string> {
  const stat = await lstat(file).catch(() => undefined);
  return `${JSON.stringify(stat ? [path, describe(stat), inodeOf(stat)] : [path, 'none'])}\n`;
}

/** Identifies a file or folder on this machine, whatever its name is. */
export const inodeOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

async function describeFile(path: string): Promise<string> {
  try {
    return describe(await lstat(path));
  } catch {
    return 'none';
  }
}

/** Describes a file: its kind, its owner's permissions and, of a regular file, its size and time. */
export function describe(stat: Stats): string {
  const mode = (stat.mode & 0o700).toString(8);
  if (stat.isFile()) return `file ${mode} ${stat.size} ${Math.floor(stat.mtimeMs)}`;
  return stat.isDirectory() ? `folder ${mode}` : 'other';
}
