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

export const storeIn = (dataDir: string): string => join(dataDir, 'store');

/** The folder of an entry. Tenants share none: a private registry may have admitted only one of them. */
export const entryFolder = (dataDir: string, tenantId: string, key: string): string =>
  join(storeIn(dataDir), tenantId, key);

const entry = z.object({ folders: z.array(z.string()), files: z.number(), bytes: z.number() });

/** The result of an install: its package folders, relative to the installed folder, and their size. */
export type StoreEntry = z.infer<typeof entry>;

/** The complete entry in a folder, if any: its record is written last. */
export function readEntry(folder: string): StoreEntry | undefined {
  const text = unlessCode(missingCodes, '', () => readFileSync(join(folder, 'entry.json'), 'utf8'));
  return entry.safeParse(fromJson(text)).data;
}

/** Writes manifests into an empty folder, to install them without the rest of the source. */
export async function writeManifests(files: readonly ManifestFile[], folder: string): Promise<void> {
  for (const { path, bytes } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}

/**
 * Stores what was installed in `staging`: read-only, and renamed as a whole, so that no partial entry is left. A
 * process of another user streams its tree as a tar, because root never works in a folder that others write to. @param
 * readAsUser starts that process; undefined where this service's own user installed.
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
  const own = `${staging}.own`;
  try {
    await mkdir(own, { mode: 0o700 });
    const taken = await extractPackages(readAsUser(staging), { from: staging, into: own });
    return taken.ok ? succeeded(await finishEntry(own, to)) : taken;
  } finally {
    await removeTree(own);
  }
}

async function finishEntry(tree: string, to: string): Promise<StoreEntry> {
  const folders = packageFolders(tree, '');
  const kept = new Set(folders.map((folder) => folder.split('/')[0]));
  for (const name of readdirSync(tree)) if (!kept.has(name)) await removeTree(join(tree, name));
  const stored: StoreEntry = { folders, ...(await sizeOf(tree)) };
  await writeFile(join(tree, 'entry.json'), JSON.stringify(stored), { mode: 0o600 });
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await removeTree(to);
  await rename(tree, to);
  return stored;
}

function packageFolders(root: string, path: string): string[] {
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .flatMap(({ name }) => {
      const below = path === '' ? name : `${path}/${name}`;
      return name === 'node_modules' ? [below] : packageFolders(root, below);
    });
}

/** Where packages are copied to before they are moved into the checkout: a folder of the service's on its file system. */
export const packagesAside = ({ folder }: RunningBuild): string => `${folder.staging}.packages`;

/** The longest list of folders that is passed to a command, in bytes. */
const maxListBytes = 100_000;

/**
 * Why an entry's folders can't be put into a checkout; undefined where they can. An install script chooses their names
 * and the repository controls the checkout, so a link above one of them could lead outside.
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
  const aside = packagesAside(running);
  const now = new Date();
  await utimes(join(entry, 'entry.json'), now, now);
  await mkdir(aside, { mode: 0o700 });
  const copy = join(aside, 'copy');
  const copied = await run({ command: 'cp', args: ['-RPp', '--', entry, copy], cwd: aside, asService: true });
  if (copied.kind !== 'done') return copied;
  if (request.user) await changeOwner(aside, request.user);
  await giveSource();
  return run({ command: '/bin/sh', args: ['-c', moveFolders, 'sh', copy, ...folders], cwd: into });
}

const moveFolders = `from=$1; shift
for folder; do
  rm -rf -- "./$folder" && mkdir -p -- "./$(dirname -- "$folder")" && mv -- "$from/$folder" "./$folder" || exit 1
done`;

export const cachesIn = (dataDir: string): string => join(dataDir, 'npm-cache');

/**
 * npm's download cache for a build, created where needed. It serves a package to any reader by its hash, so tenants
 * must not share one, or their private packages would leak. Builds can write to it, so each build user has its own as
 * well.
 */
export async function packageCache(dataDir: string, tenantId: string, user: ProcessUser | undefined): Promise<string> {
  const all = cachesIn(dataDir);
  await mkdir(all, { recursive: true });
  await chmod(all, 0o711);
  const own = join(all, user === undefined ? tenantId : `${tenantId}-${user.uid}`);
  await mkdir(own, { recursive: true, mode: 0o700 });
  if (user) await changeOwnerIfNeeded(own, user);
  const now = new Date();
  await utimes(own, now, now);
  return own;
}
