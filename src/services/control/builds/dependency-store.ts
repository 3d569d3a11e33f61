import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, writeFile, utimes, chmod } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { fromJson } from '../../../kit/json-text.ts';
import { missingCodes, unlessCode } from '../../../kit/errors.ts';
import { succeeded, type StepResult } from './build.ts';
import type { RunningBuild } from './running-build.ts';
import { sanitizeTree, sizeOf, extractPackages, type TarProcess } from './package-tree.ts';
import type { ManifestFile } from './manifests.ts';
import { removeTree } from './remove-tree.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import { changeOwner, changeOwnerIfNeeded } from '../isolation/change-owner.ts';
import { kindOfPath } from '../../../agent-folder/packages/checkout-files.ts';
import type { CommandEnd } from './run-command.ts';

export const storeFolder = (dataDir: string): string => join(dataDir, 'store');

/** The folder of an entry. Tenants share no entries: a private registry may admit only one of them. */
export const entryFolder = (dataDir: string, tenantId: string, key: string): string =>
  join(storeFolder(dataDir), tenantId, key);

const entrySchema = z.object({ folders: z.array(z.string()), files: z.number(), bytes: z.number() });

/** The result of an install: its package folders, relative to the installed folder, and their size. */
export type StoreEntry = z.infer<typeof entrySchema>;

/** The complete entry in a folder, if any: its record is written last. */
export function readEntry(folder: string): StoreEntry | undefined {
  const text = unlessCode(missingCodes, '', () => readFileSync(join(folder, 'entry.json'), 'utf8'));
  return entrySchema.safeParse(fromJson(text)).data;
}

/** Writes manifests into an empty folder, to install them without the rest of the source. */
export async function writeManifests(files: readonly ManifestFile[], folder: string): Promise<void> {
  for (const { path, bytes } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}

/**
 * Stores the packages that were installed in `staging`, read-only. The entry is renamed as a whole, so that no partial
 * one remains. Where another user installed, a process of that user streams the tree as a tar, because root never works
 * in a folder that others write to. @param readAsUser starts that process; undefined for this service's own user.
 */
export async function saveEntry(
  staging: string,
  to: string,
  readAsUser: ((folder: string) => TarProcess) | undefined,
): Promise<StepResult<StoreEntry>> {
  if (!readAsUser) {
    await sanitizeTree(staging);
    return succeeded(await finishEntry(staging, to));
  }
  const serviceFolder = `${staging}.own`;
  try {
    await mkdir(serviceFolder, { mode: 0o700 });
    const extracted = await extractPackages(readAsUser(staging), { from: staging, into: serviceFolder });
    return extracted.ok ? succeeded(await finishEntry(serviceFolder, to)) : extracted;
  } finally {
    await removeTree(serviceFolder);
  }
}

async function finishEntry(tree: string, to: string): Promise<StoreEntry> {
  const folders = packageFolders(tree, '');
  const keptNames = new Set(folders.map((folder) => folder.split('/')[0]));
  for (const name of readdirSync(tree)) if (!keptNames.has(name)) await removeTree(join(tree, name));
  const entry: StoreEntry = { folders, ...(await sizeOf(tree)) };
  await writeFile(join(tree, 'entry.json'), JSON.stringify(entry), { mode: 0o600 });
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await removeTree(to);
  await rename(tree, to);
  return entry;
}

function packageFolders(root: string, path: string): string[] {
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .flatMap(({ name }) => {
      const below = path === '' ? name : `${path}/${name}`;
      return name === 'node_modules' ? [below] : packageFolders(root, below);
    });
}

/** The service's folder into which packages are copied before they are moved into the checkout. */
export const transferFolder = ({ folder }: RunningBuild): string => `${folder.staging}.packages`;

/** The longest list of folders that is passed to a command, in bytes. */
const maxListBytes = 100_000;

/**
 * Why an entry's folders can't be placed in a checkout; undefined where they can. Install scripts choose their names and
 * the repository controls the checkout, so a link above one of them could lead outside.
 */
export function placementProblem(folders: readonly string[], into: string): string | undefined {
  if (Buffer.byteLength(folders.join('\0')) > maxListBytes) return 'it makes very many folders of packages';
  const blocked = folders
    .map((folder) => dirname(folder))
    .find((above) => above !== '.' && kindOfPath(into, above) === 'blocked');
  return blocked === undefined ? undefined : `${blocked} is, or lies below, a link or a file of the repository`;
}

/**
 * Copies an entry's package folders into a checkout, replaces those that exist, and records the use. The service copies
 * into a folder of its own and changes the owner; the build's user moves the copy into the checkout, so that a link
 * there leads no further than that user can reach. Files share blocks where the file system can (reflink), and are
 * never hard links: a writer to one copy would change the other.
 */
export async function placePackages(
  entry: string,
  folders: readonly string[],
  into: string,
  running: RunningBuild,
): Promise<CommandEnd> {
  const { request, giveSource, run } = running;
  const transfer = transferFolder(running);
  const now = new Date();
  await utimes(join(entry, 'entry.json'), now, now);
  await mkdir(transfer, { mode: 0o700 });
  const copy = join(transfer, 'copy');
  const copied = await run({ command: 'cp', args: ['-RPp', '--', entry, copy], cwd: transfer, asService: true });
  if (copied.kind !== 'done') return copied;
  if (request.user) await changeOwner(transfer, request.user);
  await giveSource();
  return run({ command: '/bin/sh', args: ['-c', moveFoldersScript, 'sh', copy, ...folders], cwd: into });
}

const moveFoldersScript = `from=$1; shift
for folder; do
  rm -rf -- "./$folder" && mkdir -p -- "./$(dirname -- "$folder")" && mv -- "$from/$folder" "./$folder" || exit 1
done`;

export const cachesFolder = (dataDir: string): string => join(dataDir, 'npm-cache');

/**
 * Creates npm's download cache for a build where it is missing; returns its folder. A cache returns packages by their
 * hash, so tenants must not share one, or private packages would leak. Builds can write to it, so each user has its own.
 */
export async function packageCache(dataDir: string, tenantId: string, user: ProcessUser | undefined): Promise<string> {
  const caches = cachesFolder(dataDir);
  await mkdir(caches, { recursive: true });
  await chmod(caches, 0o711);
  const cache = join(caches, user === undefined ? tenantId : `${tenantId}-${user.uid}`);
  await mkdir(cache, { recursive: true, mode: 0o700 });
  if (user) await changeOwnerIfNeeded(cache, user);
  const now = new Date();
  await utimes(cache, now, now);
  return cache;
}
