import { constants } from 'node:fs';
import { access, lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { gitIgnoreFile, IgnoreRules, ownIgnoreFile } from './ignore-rules.ts';
import { sizeInWords, type SourceLimits } from './limits.ts';
import { linkProblem, nameProblem, problemAt, readFailure } from './path-problems.ts';

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
 */
export async function listSource(folder: string, limits: SourceLimits, signal?: AbortSignal): Promise<Listing> {
  const walk = new Walk(folder, limits, signal);
  const own = await walk.ignoreFile(ownIgnoreFile);
  await walk.into('', IgnoreRules.atRoot(own ?? ''));
  return walk.listing();
}

class Walk {
  readonly #folder: string;
  readonly #limits: SourceLimits;
  readonly #signal: AbortSignal | undefined;
  readonly #entries: SourceEntry[] = [];
  readonly #leftOut: string[] = [];
  readonly #ignored = new Set<string>();
  readonly #problems: Problem[] = [];
  #bytes = 0;
  #isFull = false;

  constructor(folder: string, limits: SourceLimits, signal: AbortSignal | undefined) {
    this.#folder = folder;
    this.#limits = limits;
    this.#signal = signal;
  }

  listing(): Listing {
    if (this.#bytes > this.#limits.unpackedBytes)
      this.#addProblem('', tooManyBytes(this.#bytes, this.#limits, this.#entries));
    return {
      // By code units: a locale would order them otherwise on another machine.
      entries: this.#entries.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
      unpackedBytes: this.#bytes,
      leftOut: this.#leftOut.toSorted(),
      ignored: this.#ignored,
      problems: this.#problems,
    };
  }

  async into(path: string, above: IgnoreRules): Promise<void> {
    const found = await this.#read(path, () => readdir(join(this.#folder, path), { withFileTypes: true }));
    if (!found) return;
    const names = found.map(({ name }) => name);
    const text = names.includes(gitIgnoreFile) ? await this.ignoreFile(below(path, gitIgnoreFile)) : undefined;
    const rules = text === undefined ? above : above.with(text, path);
    for (const entry of found.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      if (this.#isFull) return;
      this.#signal?.throwIfAborted();
      const own = below(path, entry.name);
      const fate = rules.fateOf(own, entry.isDirectory());
      if (fate === 'ignored by default') this.#leftOut.push(entry.isDirectory() ? `${own}/` : own);
      if (fate !== 'packed') this.#ignored.add(own);
      else if (this.#isNameable(own, entry.name)) {
        await (entry.isDirectory() ? this.into(own, rules) : this.#take(own));
      }
    }
  }

  /** The text of an ignore file; undefined where there is none. As for git, a link is none. */
  async ignoreFile(path: string): Promise<string | undefined> {
    const at = join(this.#folder, path);
    return this.#read(path, async () => ((await isFile(at)) ? await readFile(at, 'utf8') : undefined));
  }

  #isNameable(path: string, name: string): boolean {
    const wrong = nameProblem(path, name);
    if (wrong !== undefined) this.#addProblem(path, wrong);
    return wrong === undefined;
  }

  async #take(path: string): Promise<void> {
    const entry = await this.#read(path, () => this.#entryAt(path));
    if (!entry) return;
    if (this.#entries.length >= this.#limits.entries) {
      this.#isFull = true;
      const most = `${this.#limits.entries} files and links`;
      this.#addProblem(
        '',
        `it holds more than ${most}: name what no build needs in ${gitIgnoreFile} or ${ownIgnoreFile}`,
      );
      return;
    }
    this.#entries.push(entry);
    if (entry.kind === 'file') this.#bytes += entry.size;
  }

  async #entryAt(path: string): Promise<SourceEntry | undefined> {
    const at = join(this.#folder, path);
    const stat = await lstat(at);
    if (stat.isSymbolicLink()) {
      const target = (await readlink(at)).replaceAll(process.platform === 'win32' ? '\\' : '/', '/');
      const wrong = linkProblem(path, target);
      if (wrong === undefined) return { kind: 'link', path, target };
      this.#addProblem(path, wrong);
      return undefined;
    }
    if (!stat.isFile()) {
      this.#addProblem(path, 'this is no file, folder or link (a device, a socket or a pipe) and cannot be packed');
      return undefined;
    }
    await access(at, constants.R_OK);
    return { kind: 'file', path, size: stat.size, executable: (stat.mode & 0o100) !== 0 };
  }

  /** What the file system does not give is a problem with its path, and the walk goes on. */
  async #read<T>(path: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      this.#addProblem(path, readFailure(error));
      return undefined;
    }
  }

  #addProblem(path: string, message: string): void {
    this.#problems.push(problemAt(this.#folder, path, message));
  }
}

const below = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

async function isFile(at: string): Promise<boolean> {
  const stat = await lstat(at).catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw error;
  });
  return stat?.isFile() ?? false;
}

const isAbsent = (error: unknown): boolean => hasCode(error, 'ENOENT', 'ENOTDIR');

function tooManyBytes(bytes: number, { unpackedBytes }: SourceLimits, entries: readonly SourceEntry[]): string {
  const largest = entries
    .flatMap((entry) => (entry.kind === 'file' ? [entry] : []))
    .toSorted((one, other) => other.size - one.size)
    .slice(0, 3)
    .map(({ path, size }) => `${path} (${sizeInWords(size)})`);
  return `its files have ${sizeInWords(bytes)} together, and may have ${sizeInWords(unpackedBytes)}; the largest are ${largest.join(', ')}`;
}
