import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../database/embedded/file-errors.ts';
import { cachesIn } from '../builds/package-cache.ts';
import { storeIn } from '../builds/dependency-store.ts';
import { mirrorsIn } from '../builds/mirror.ts';
import { removeTree } from '../builds/remove-tree.ts';
import { inTurn, isInUse } from '../builds/turns.ts';

/** Something that builds keep for one another, with when it was used last (ms since the epoch). */
export interface KeptFolder {
  path: string;
  usedAt: number;
}

/** Kinds of folders that builds keep, by the name of their age. */
export const keptKinds = ['downloads', 'packages', 'mirrors'] as const;
export type KeptKind = (typeof keptKinds)[number];

/** What lies there of a kind, below the folder of builds' data; half an entry of packages counts as never used. */
export async function keptFolders(kind: KeptKind, workDir: string): Promise<KeptFolder[]> {
  switch (kind) {
    case 'downloads':
      return withTimes(await below(cachesIn(workDir), 1));
    case 'mirrors':
      return withTimes(await below(mirrorsIn(workDir), 2));
    case 'packages':
      return withTimes(await below(storeIn(workDir), 2), 'entry.json');
  }
}

/** The paths so many folders down. */
async function below(folder: string, depth: number): Promise<string[]> {
  const paths = (await listed(folder)).map((name) => join(folder, name));
  if (depth === 1) return paths;
  return (await Promise.all(paths.map((path) => below(path, depth - 1)))).flat();
}

async function withTimes(paths: readonly string[], told = '.'): Promise<KeptFolder[]> {
  return Promise.all(paths.map(async (path) => ({ path, usedAt: await timeOf(join(path, told)) })));
}

async function timeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 0;
    throw error;
  }
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
 * Removes such a folder unless a build is at work in it. What says that it is whole goes first: a service that is killed
 * in the middle leaves nothing that a build would take for whole.
 *
 * @returns whether it is gone.
 */
export async function removeKept({ path }: KeptFolder): Promise<boolean> {
  if (isInUse(path)) return false;
  const removed = await inTurn(path, new AbortController().signal, async () => {
    for (const sign of ['entry.json', 'HEAD']) await rm(join(path, sign), { force: true });
    await removeTree(path);
    return true;
  });
  return removed === true;
}
