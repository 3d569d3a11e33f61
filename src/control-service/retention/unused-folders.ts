import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, messageOf } from '../../errors.ts';
import { cachesIn, storeIn } from '../builds/dependency-store.ts';
import { mirrorsIn } from '../builds/mirror.ts';
import { removeTree } from '../builds/remove-tree.ts';
import { inFolderQueue, isInUse } from '../builds/folder-queue.ts';

/** A folder that builds share, with the time of its last use (ms since the epoch). */
export interface KeptFolder {
  path: string;
  usedAt: number;
  /** The file in it that marks it as complete; absent in folders that belong to the user of builds. */
  marker?: string;
}

/** The kinds of shared folders, by the names of their retention times. */
export const keptKinds = ['downloads', 'packages', 'mirrors'] as const;
export type KeptKind = (typeof keptKinds)[number];

/** Receives one line per entry that could not be checked or removed; the other entries continue. */
export type Report = (message: string) => void;

/** The folders of a kind; an incomplete entry of packages counts as never used. */
export async function keptFolders(kind: KeptKind, workDir: string, report: Report): Promise<KeptFolder[]> {
  switch (kind) {
    case 'downloads':
      return withTimes(await below(cachesIn(workDir), 1, report));
    case 'mirrors':
      return withTimes(await below(mirrorsIn(workDir), 2, report), { marker: 'HEAD' });
    case 'packages':
      return withTimes(await below(storeIn(workDir), 2, report), { marker: 'entry.json', dated: 'entry.json' });
  }
}

/** The paths at a depth. */
async function below(folder: string, depth: number, report: Report): Promise<string[]> {
  const names = await listed(folder).catch((error: unknown) => {
    report(`${folder} could not be read: ${messageOf(error)}`);
    return [];
  });
  const paths = names.map((name) => join(folder, name));
  if (depth === 1) return paths;
  return (await Promise.all(paths.map((path) => below(path, depth - 1, report)))).flat();
}

async function withTimes(
  paths: readonly string[],
  { dated = '', ...marked }: { dated?: string } & Pick<KeptFolder, 'marker'> = {},
): Promise<KeptFolder[]> {
  return Promise.all(paths.map(async (path) => ({ path, ...marked, usedAt: await timeOf(join(path, dated)) })));
}

/** Without a readable time of use, a folder counts as never used: no build needs such a folder. */
async function timeOf(path: string): Promise<number> {
  return lstat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

async function listed(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/**
 * Removes such a folder unless a build is using it. Its completion marker goes first, so that a kill in the middle leaves
 * nothing that looks complete.
 *
 * @returns whether it is gone; a failure is reported and retried in the next run.
 */
export async function removeKept({ path, marker }: KeptFolder, report: Report): Promise<boolean> {
  if (isInUse(path)) return false;
  const removed = await inFolderQueue(path, new AbortController().signal, async () => {
    if (marker !== undefined) await removeTree(join(path, marker));
    await removeTree(path);
    return true;
  }).catch((error: unknown) => report(`${path} could not be removed: ${messageOf(error)}`));
  return removed === true;
}
