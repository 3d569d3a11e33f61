import { trimEndOf, trimStartOf } from '../../../kit/plain-text.ts';
import {
  gitIgnoreFile,
  ignoreRules,
  isPythonEnvironment,
  ownIgnoreFile,
  type IgnoreRules,
} from '../../../kit/archive/ignore-rules.ts';
import { maxTarballSize } from '../../../kit/archive/tarball.ts';

/** The used part of a browser's `File`. */
export interface ReadableFile {
  readonly size: number;
  text(): Promise<string>;
}

/** A dropped or chosen folder. */
export interface SourceFolder<File extends ReadableFile> {
  entries(): Promise<readonly FolderEntry<File>[]>;
}
export type FolderEntry<File extends ReadableFile> =
  | { kind: 'file'; name: string; open: () => Promise<File> }
  | { kind: 'folder'; name: string; folder: SourceFolder<File> };

export interface SourceFile<File extends ReadableFile> {
  /** The path from the root, with slashes. */
  path: string;
  file: File;
}

export interface SelectedFiles<File extends ReadableFile> {
  /** Sorted by path. */
  files: SourceFile<File>[];
  bytes: number;
  /** Paths that were left out because no build needs them, or they may contain secrets; folders end with a slash. */
  leftOut: string[];
}

/** The same limits as on the command line. */
export const limits = { files: 50_000, bytes: 1024 ** 3, packedBytes: maxTarballSize } as const;

/**
 * Selects the files of a folder to upload, by the rules of the command line: without `.git`, `node_modules`, files that
 * may contain secrets, and ignored files.
 *
 * @throws Error with a message for users, if the folder is empty or too large.
 */
export async function selectFiles<File extends ReadableFile>(root: SourceFolder<File>): Promise<SelectedFiles<File>> {
  const files: SourceFile<File>[] = [];
  const leftOut: string[] = [];
  let bytes = 0;

  const walk = async (folder: SourceFolder<File>, path: string, inherited: IgnoreRules): Promise<void> => {
    const entries = await folder.entries();
    if (path !== '' && isPythonEnvironment(entries.map(({ name }) => name))) {
      leftOut.push(`${path}/`);
      return;
    }
    const ignored = await textOf(entries, gitIgnoreFile);
    const rules = ignored === undefined ? inherited : inherited.with(ignored, path);
    for (const entry of entries) {
      const entryPath = path === '' ? entry.name : `${path}/${entry.name}`;
      const isFolder = entry.kind === 'folder';
      const decision = rules.decide(entryPath, isFolder);
      if (decision === 'ignored by default') leftOut.push(isFolder ? `${entryPath}/` : entryPath);
      if (decision !== 'packed') continue;
      if (isFolder) await walk(entry.folder, entryPath, rules);
      else {
        const file = await entry.open();
        files.push({ path: entryPath, file });
        bytes += file.size;
        if (files.length > limits.files || bytes > limits.bytes) throw new Error(tooLargeMessage);
      }
    }
  };

  const ownRules = await textOf(await root.entries(), ownIgnoreFile);
  await walk(root, '', ignoreRules(ownRules ?? ''));
  if (files.length === 0) throw new Error('There is no file to upload in this folder. Choose the folder of an agent.');
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files, bytes, leftOut: leftOut.sort() };
}

const tooLargeMessage = `The folder holds more than ${limits.files.toLocaleString('en')} files or 1 GB. Name what no build needs in ${gitIgnoreFile} or ${ownIgnoreFile}.`;

async function textOf<File extends ReadableFile>(
  entries: readonly FolderEntry<File>[],
  name: string,
): Promise<string | undefined> {
  const found = entries.find((entry) => entry.kind === 'file' && entry.name === name);
  return found?.kind === 'file' ? (await found.open()).text() : undefined;
}

/** Builds the folder of a list of files. A single folder around all of them is removed. */
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
