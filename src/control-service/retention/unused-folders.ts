import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, messageOf } from '../../postgres/embedded/file-errors.ts';
import { cachesIn } from '../builds/package-cache.ts';
import { storeIn } from '../builds/dependency-store.ts';
import { mirrorsIn } from '../builds/mirror.ts';
import { removeTree } from '../builds/remove-tree.ts';
import { inTurn, isInUse } from '../builds/turns.ts';

/** Something that builds keep for one another, with when it was used last (ms since the epoch). */
export interface KeptFolder {
  path: string;
  usedAt: number;
  /** The file in it that says that it is whole; none in a folder of downloads, which belongs to the user of builds. */
  sign?: string;
}

/** Kinds of folders that builds keep, by the name of their age. */
export const keptKinds = ['downloads', 'packages', 'mirrors'] as const;
export type KeptKind = (typeof keptKinds)[number];

/** Is told in one line what could not be looked at or removed: the other entries do not wait for it. */
export type Report = (message: string) => void;

/** What lies there of a kind, below the folder of builds' data; half an entry of packages counts as never used. */
export async function keptFolders(kind: KeptKind, workDir: string, report: Report): Promise<KeptFolder[]> {
  switch (kind) {
    case 'downloads':
      return withTimes(await below(cachesIn(workDir), 1, report));
    case 'mirrors':
      return withTimes(await below(mirrorsIn(workDir), 2, report), { sign: 'HEAD' });
    case 'packages':
      return withTimes(await below(storeIn(workDir), 2, report), { sign: 'entry.json', dated: 'entry.json' });
  }
}

/** The paths so many folders down. */
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
  { dated = '', ...signed }: { dated?: string } & Pick<KeptFolder, 'sign'> = {},
): Promise<KeptFolder[]> {
  return Promise.all(paths.map(async (path) => ({ path, ...signed, usedAt: await timeOf(join(path, dated)) })));
}

/** Whatever hides when something was used, nothing that a build needs does: then it counts as never used. */
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
 * Removes such a folder unless a build is at work in it. What says that it is whole goes first: a service that is killed
 * in the middle leaves nothing that a build would take for whole.
 *
 * @returns whether it is gone; one that can't be removed is reported and stays until the next look.
 */
export async function removeKept({ path, sign }: KeptFolder, report: Report): Promise<boolean> {
  if (isInUse(path)) return false;
  const removed = await inTurn(path, new AbortController().signal, async () => {
    if (sign !== undefined) await removeTree(join(path, sign));
    await removeTree(path);
    return true;
  }).catch((error: unknown) => report(`${path} could not be removed: ${messageOf(error)}`));
  return removed === true;
}
