import { trimEndOf, trimStartOf } from '../../../kit/plain-text.ts';
import {
  gitIgnoreFile,
  ignoreRules,
  isPythonEnvironment,
  ownIgnoreFile,
  type IgnoreRules,
} from '../../../kit/archive/ignore-rules.ts';
import { maxTarballSize } from '../../../kit/archive/tarball.ts';

/** What is needed of a browser's `File`. */
export interface ReadableFile {
  readonly size: number;
  text(): Promise<string>;
}

/** A folder that was dropped or chosen. */
export interface SourceFolder<File extends ReadableFile> {
  entries(): Promise<readonly FolderEntry<File>[]>;
}
export type FolderEntry<File extends ReadableFile> =
  | { kind: 'file'; name: string; open: () => Promise<File> }
  | { kind: 'folder'; name: string; folder: SourceFolder<File> };

export interface SourceFile<File extends ReadableFile> {
  /** From the root, with slashes. */
  path: string;
  file: File;
}

export interface SelectedFiles<File extends ReadableFile> {
  /** In the order of their paths. */
  files: SourceFile<File>[];
  bytes: number;
  /** What was left out because no build needs it, or because it may hold secrets; folders end with a slash. */
  leftOut: string[];
}

/** The limits of the command line. */
export const limits = { files: 50_000, bytes: 1024 ** 3, packedBytes: maxTarballSize } as const;

/**
 * Chooses the files of a folder that are uploaded, by the rules of the command line: without `.git`, `node_modules`,
 * files that may hold secrets, and what ignore files name.
 *
 * @throws Error for people, where it has too much.
 */
export async function selectFiles<File extends ReadableFile>(root: SourceFolder<File>): Promise<SelectedFiles<File>> {
  const files: SourceFile<File>[] = [];
  const leftOut: string[] = [];
  let bytes = 0;

  const walk = async (folder: SourceFolder<File>, path: string, above: IgnoreRules): Promise<void> => {
    const entries = await folder.entries();
    if (path !== '' && isPythonEnvironment(entries.map(({ name }) => name))) {
      leftOut.push(`${path}/`);
      return;
    }
    const ignored = await textOf(entries, gitIgnoreFile);
    const rules = ignored === undefined ? above : above.with(ignored, path);
    for (const entry of entries) {
      const own = path === '' ? entry.name : `${path}/${entry.name}`;
      const isFolder = entry.kind === 'folder';
      const fate = rules.decide(own, isFolder);
      if (fate === 'ignored by default') leftOut.push(isFolder ? `${own}/` : own);
      if (fate !== 'packed') continue;
      if (isFolder) await walk(entry.folder, own, rules);
      else {
        const file = await entry.open();
        files.push({ path: own, file });
        bytes += file.size;
        if (files.length > limits.files || bytes > limits.bytes) throw new Error(tooMuch);
      }
    }
  };

  const own = await textOf(await root.entries(), ownIgnoreFile);
  await walk(root, '', ignoreRules(own ?? ''));
  if (files.length === 0) throw new Error('There is no file to upload in this folder. Choose the folder of an agent.');
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files, bytes, leftOut: leftOut.sort() };
}

const tooMuch = `The folder holds more than ${limits.files.toLocaleString('en')} files or 1 GB. Name what no build needs in ${gitIgnoreFile} or ${ownIgnoreFile}.`;

async function textOf<File extends ReadableFile>(
  entries: readonly FolderEntry<File>[],
  name: string,
): Promise<string | undefined> {
  const found = entries.find((entry) => entry.kind === 'file' && entry.name === name);
  return found?.kind === 'file' ? (await found.open()).text() : undefined;
}

/** The folder that files with paths are in; the folder around all of them, where there is one, is left away. */
export function folderOf<File extends ReadableFile>(files: readonly SourceFile<File>[]): SourceFolder<File> {
  const root: Tree<File> = new Map();
  for (const { path, file } of files) {
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    const last = names.pop();
    if (last === undefined || names.includes('..')) continue;
    let at = root;
    for (const name of names) {
      const found = at.get(name);
      const next: Tree<File> = found instanceof Map ? found : new Map();
      at.set(name, next);
      at = next;
    }
    at.set(last, file);
  }
  const [only, ...others] = root.values();
  return toFolder(only instanceof Map && others.length === 0 ? only : root);
}

type Tree<File> = Map<string, File | Tree<File>>;

const toFolder = <File extends ReadableFile>(tree: Tree<File>): SourceFolder<File> => ({
  entries: async () =>
    [...tree].map(([name, value]) =>
      value instanceof Map
        ? { kind: 'folder', name, folder: toFolder(value) }
        : { kind: 'file', name, open: async () => value },
    ),
});

/** The graph configuration files among paths, the one nearest to the root first. */
export const configPathsOf = (paths: readonly string[]): string[] =>
  paths
    .filter((path) => /(?:^|\/)langgraph\.json$/.test(path))
    .sort((one, other) => one.split('/').length - other.split('/').length || (one < other ? -1 : 1));

/** A name for a deployment from the name of a folder or an archive: `My Agent.tar.gz` as `my-agent`. */
export const nameFor = (text: string): string =>
  trimStartOf(
    trimEndOf(
      text
        .replace(/\.(?:tar\.gz|tgz|zip|git)$/i, '')
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .slice(0, 63),
      '-',
    ),
    '-',
  );
