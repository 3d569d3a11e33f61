import { constants } from 'node:fs';
import { access, lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { hasCode, missingCodes } from '../errors.ts';
import { problemOfFile, type Problem } from '../diagnostics/problem.ts';
import { gitIgnoreFile, ignoreRules, type IgnoreRules, isPythonEnvironment, ownIgnoreFile } from './ignore-rules.ts';
import { maxTarballSize } from './tarball.ts';

/** One thing to pack. `path` is from the root of the folder, with slashes. */
export type SourceEntry =
  { kind: 'file'; path: string; size: number; executable: boolean } | { kind: 'link'; path: string; target: string };

/** What a folder holds that is to be packed, and everything in it that cannot be. */
export interface Listing {
  /** Sorted by path, whatever order the file system has them in. */
  entries: SourceEntry[];
  /** Bytes of all files together. */
  unpackedBytes: number;
  /** What our own rules ignore, folders with a slash at the end: the caller should report it. */
  leftOut: string[];
  /** The paths that an ignore file keeps out, as far as they were met: nothing below them was looked at. */
  ignored: ReadonlySet<string>;
  problems: Problem[];
}

/**
 * Lists what of a folder is packed. Folders themselves are not: git does not keep empty ones either, so a checkout and
 * the folder that it was made from are the same. Every problem is reported at once, up to the limit of entries.
 *
 * @param except paths of files that are passed over, from the working directory
 */
export async function listSource(
  folder: string,
  limits: SourceLimits,
  signal?: AbortSignal,
  except: readonly string[] = [],
): Promise<Listing> {
  const isExcepted = new Set(except.map((path) => resolve(path)));
  const entries: SourceEntry[] = [];
  const leftOut: string[] = [];
  const ignored = new Set<string>();
  const problems: Problem[] = [];
  let unpackedBytes = 0;
  let isFull = false;

  const addProblem = (path: string, message: string): void => void problems.push(problemAt(folder, path, message));

  /** What the file system does not give is a problem with its path, and the walk goes on. */
  async function readAt<T>(path: string, read: (at: string) => Promise<T>): Promise<T | undefined> {
    try {
      return await read(join(folder, path));
    } catch (error) {
      addProblem(path, readFailure(error));
      return undefined;
    }
  }

  /** The text of an ignore file; undefined where there is none. As for git, a link is none. */
  const ignoreFile = (path: string): Promise<string | undefined> =>
    readAt(path, async (at) => ((await isFile(at)) ? await readFile(at, 'utf8') : undefined));

  async function entryAt(path: string, at: string): Promise<SourceEntry | undefined> {
    const stat = await lstat(at);
    if (stat.isSymbolicLink()) {
      const target = (await readlink(at)).replaceAll(process.platform === 'win32' ? '\\' : '/', '/');
      const wrong = linkProblem(path, target);
      if (wrong === undefined) return { kind: 'link', path, target };
      addProblem(path, wrong);
      return undefined;
    }
    if (!stat.isFile()) {
      addProblem(path, 'this is no file, folder or link (a device, a socket or a pipe) and cannot be packed');
      return undefined;
    }
    await access(at, constants.R_OK);
    return { kind: 'file', path, size: stat.size, executable: (stat.mode & 0o100) !== 0 };
  }

  async function take(path: string): Promise<void> {
    const entry = await readAt(path, (at) => entryAt(path, at));
    if (!entry) return;
    if (entries.length >= limits.entries) {
      isFull = true;
      const most = `${limits.entries} files and links`;
      addProblem('', `it holds more than ${most}: name what no build needs in ${gitIgnoreFile} or ${ownIgnoreFile}`);
      return;
    }
    entries.push(entry);
    if (entry.kind === 'file') unpackedBytes += entry.size;
  }

  async function walk(path: string, above: IgnoreRules): Promise<void> {
    const found = await readAt(path, (at) => readdir(at, { withFileTypes: true }));
    if (!found) return;
    if (path !== '' && isPythonEnvironment(found.map(({ name }) => name))) {
      leftOut.push(`${path}/`);
      ignored.add(path);
      return;
    }
    const hasIgnoreFile = found.some(({ name }) => name === gitIgnoreFile);
    const text = hasIgnoreFile ? await ignoreFile(below(path, gitIgnoreFile)) : undefined;
    const rules = text === undefined ? above : above.with(text, path);
    for (const entry of found.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      if (isFull) return;
      signal?.throwIfAborted();
      const own = below(path, entry.name);
      if (isExcepted.has(resolve(folder, own))) continue;
      const fate = rules.decide(own, entry.isDirectory());
      if (fate === 'ignored by default') leftOut.push(entry.isDirectory() ? `${own}/` : own);
      const wrong = nameProblem(own, entry.name);
      if (fate !== 'packed') ignored.add(own);
      else if (wrong !== undefined) addProblem(own, wrong);
      else await (entry.isDirectory() ? walk(own, rules) : take(own));
    }
  }

  await walk('', ignoreRules((await ignoreFile(ownIgnoreFile)) ?? ''));
  if (unpackedBytes > limits.unpackedBytes) addProblem('', tooManyBytes(unpackedBytes, limits, entries));
  // By code units: a locale would order them otherwise on another machine.
  const sorted = entries.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return { entries: sorted, unpackedBytes, leftOut: leftOut.toSorted(), ignored, problems };
}

const below = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

async function isFile(at: string): Promise<boolean> {
  const stat = await lstat(at).catch((error: unknown) => {
    if (!hasCode(error, ...missingCodes)) throw error;
  });
  return stat?.isFile() ?? false;
}

function tooManyBytes(bytes: number, { unpackedBytes }: SourceLimits, entries: readonly SourceEntry[]): string {
  const largest = entries
    .flatMap((entry) => (entry.kind === 'file' ? [entry] : []))
    .toSorted((one, other) => other.size - one.size)
    .slice(0, 3)
    .map(({ path, size }) => `${path} (${sizeInWords(size)})`);
  return `its files have ${sizeInWords(bytes)} together, and may have ${sizeInWords(unpackedBytes)}; the largest are ${largest.join(', ')}`;
}

/** What a folder may hold so that it is packed. */
export interface SourceLimits {
  /** Files and links. */
  entries: number;
  /** Bytes of all files together. */
  unpackedBytes: number;
  /** Bytes of the gzip tar. */
  packedBytes: number;
}

/** Far more than an agent's source has: what is larger holds something that no build needs. */
export const usualLimits: SourceLimits = {
  entries: 50_000,
  unpackedBytes: 1024 ** 3,
  packedBytes: maxTarballSize,
};

/** The longest path and the longest name in it, in bytes: what file systems take, with a folder around them. */
const maxPathLength = 1_000;
const maxNameLength = 255;

/** A size in words for people: `812 bytes`, `3.4 kB`, `210 MB`. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const units = ['kB', 'MB', 'GB'];
  let size = bytes / 1_000;
  while (size >= 999.5 && units.length > 1) {
    size /= 1_000;
    units.shift();
  }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[0]}`;
}

/** A problem of something in a folder, named as a person would find it from the working directory. */
export const problemAt = (folder: string, path: string, message: string): Problem =>
  problemOfFile(
    join(folder, path)
      .split(sep)
      .join('/')
      .replace(/\p{Cc}/gu, '?'),
    message,
  );

/** Why a name cannot be kept as it is on every machine. */
function nameProblem(path: string, name: string): string | undefined {
  if (name.includes('\ufffd')) return 'its name is not UTF-8, so it cannot be kept';
  if (/[\p{Cc}\\]/u.test(name)) return 'its name holds a backslash or a control character: give it another one';
  if (Buffer.byteLength(name) > maxNameLength) return `its name is longer than ${maxNameLength} bytes`;
  return Buffer.byteLength(path) > maxPathLength ? `its path is longer than ${maxPathLength} bytes` : undefined;
}

/**
 * Why a link is not packed: it must lead to something within the folder, wherever that is unpacked. It may go up only
 * at its begin, because going up behind a name goes up from wherever a link of that name leads to.
 */
function linkProblem(path: string, target: string): string | undefined {
  const out = 'this link leads out of the folder: put a copy in its place, or leave it out by an ignore file';
  if (target === '' || /[\p{Cc}\\]/u.test(target)) return 'this link holds a backslash or a control character';
  if (target.startsWith('/') || /^[A-Za-z]:/.test(target)) return out;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const down = parts.findIndex((part) => part !== '..');
  const up = down === -1 ? parts.length : down;
  if (up > path.split('/').length - 1) return out;
  return parts.slice(up).includes('..') ? 'this link goes up again behind a name: write it without' : undefined;
}

/** Describes a file system error for people; throws any other error. */
export function readFailure(error: unknown): string {
  if (!(error instanceof Error && 'code' in error)) throw error;
  switch (error.code) {
    case 'ENOENT':
      return 'there is no such file or folder';
    case 'ENOTDIR':
      return 'this is no folder';
    case 'EACCES':
    case 'EPERM':
      return 'it may not be read: give this user the right to, or leave it out by an ignore file';
    default:
      return `it cannot be read (${String(error.code)})`;
  }
}
