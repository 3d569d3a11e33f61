import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { fromJson } from '../../contract/json-text.ts';
import { hasCode } from '../../errors.ts';
import { made, type Part } from './build.ts';
import { sealTree, sizeOf } from './seal-tree.ts';
import type { Manifest } from './manifests.ts';
import { removeTree } from './remove-tree.ts';
import { takeTree, type TarProcess } from './take-tree.ts';

/** The folder of the dependency store. */
export const storeIn = (dataDir: string): string => join(dataDir, 'store');

/** The folder of an entry. Tenants share none: a private registry may have admitted only one of them. */
export const entryFolder = (dataDir: string, tenantId: string, key: string): string =>
  join(storeIn(dataDir), tenantId, key);

const entry = z.object({ folders: z.array(z.string()), files: z.number(), bytes: z.number() });

/** The result of an install: its package folders, relative to the installed folder, and their size. */
export type StoreEntry = z.infer<typeof entry>;

/** The complete entry in a folder, if any: its record is written last. */
export function readEntry(folder: string): StoreEntry | undefined {
  try {
    return entry.safeParse(fromJson(readFileSync(join(folder, 'entry.json'), 'utf8'))).data;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Writes manifests into an empty folder, to install them without the rest of the source. */
export async function layOut(files: readonly Manifest[], folder: string): Promise<void> {
  for (const { path, bytes } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}

/**
 * Stores what this service's own user installed in `staging` as an entry: read-only, and renamed into place as a whole,
 * so that a killed service leaves no partial entry.
 */
export async function keepEntry(staging: string, to: string): Promise<StoreEntry> {
  await sealTree(staging);
  return settle(staging, to);
}

/**
 * Stores what another user installed in `staging`. A process of that user streams it as a tar, and this service extracts
 * its own tree beside it: root never works in a folder that others write to.
 *
 * @param read starts the process that writes `staging` as a tar to its standard output, as that user.
 */
export async function keepEntryOf(staging: string, to: string, read: () => TarProcess): Promise<Part<StoreEntry>> {
  const own = `${staging}.own`;
  try {
    await mkdir(own, { mode: 0o700 });
    const taken = await takeTree(read(), { from: staging, into: own });
    return taken.ok ? made(await settle(own, to)) : taken;
  } finally {
    await removeTree(own);
  }
}

async function settle(tree: string, to: string): Promise<StoreEntry> {
  const folders = packageFolders(tree, '');
  for (const name of readdirSync(tree)) {
    if (!isOnTheWay(name, folders)) await removeTree(join(tree, name));
  }
  const kept: StoreEntry = { folders, ...(await sizeOf(tree)) };
  await writeFile(join(tree, 'entry.json'), JSON.stringify(kept), { mode: 0o600 });
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await removeTree(to);
  await rename(tree, to);
  return kept;
}

const isOnTheWay = (name: string, folders: readonly string[]): boolean =>
  folders.some((folder) => folder.split('/')[0] === name);

/** The outermost package folders below a folder. */
function packageFolders(root: string, path: string): string[] {
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .flatMap(({ name }) => {
      const below = path === '' ? name : `${path}/${name}`;
      return name === 'node_modules' ? [below] : packageFolders(root, below);
    });
}
