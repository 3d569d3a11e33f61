import { existsSync, lchownSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, rename, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { readBelow } from '../../../../agent-folder/packages/checkout-files.ts';
import { fromJson } from '../../../../kit/json-text.ts';
import { missingCodes, unlessCode } from '../../../../kit/errors.ts';
import type { ProcessUser } from '../../compute/guarded-process.ts';
import { removeTree } from '../remove-tree.ts';

/**
 * The folder of Python environments. Builds with the same packages share one, which stays at its path, because an
 * environment contains its own path. Users and tenants never share any.
 */
export const environmentsFolder = (dataDir: string): string => join(dataDir, 'python');

/** The name of an environment, as builds record it: it is below `environmentsIn`. */
export const environmentName = (tenantId: string, key: string): string => `${tenantId}/${key}`;

export const environmentFolder = (dataDir: string, name: string): string => join(environmentsFolder(dataDir), name);

/** The paths in an environment's folder. The build's user writes only below `files`. */
export const environmentPaths = (entry: string) => ({
  files: join(entry, 'files'),
  environment: join(entry, 'files', 'env'),
  aside: join(entry, 'files', 'aside'),
  record: join(entry, 'entry.json'),
});

const installedSchema = z.object({
  python: z.string().max(100),
  /** The folder of its packages. */
  site: z.string().max(10_000),
  packages: z.array(z.tuple([z.string().max(1_000), z.string().max(1_000), z.string().max(10_000).nullable()])),
  is_shared: z.boolean(),
});
/** The packages in an environment: name, version and, for those that are not from the index, the URL. */
export type InstalledPackages = z.infer<typeof installedSchema>;

const environmentSchema = installedSchema.extend({ source: z.string() });
/** A complete environment, and the checkout that it was installed from. */
export type Environment = z.infer<typeof environmentSchema>;

/** The largest list of packages that is read. */
const maxListBytes = 4_000_000;
const listName = 'packages.json';
export const listFile = (entryFolder: string): string => join(environmentPaths(entryFolder).files, listName);

/** The list that the build's user wrote into a folder; undefined for an invalid one. */
export const readListFile = (folder: string, name: string): InstalledPackages | undefined =>
  installedSchema.safeParse(fromJson(readBelow(folder, name, maxListBytes)?.toString() ?? '')).data;

export const readList = (entryFolder: string): InstalledPackages | undefined =>
  readListFile(environmentPaths(entryFolder).files, listName);

/** The complete environment in a folder, if any: its record is written last. */
export function readEnvironment(entryFolder: string): Environment | undefined {
  const text = unlessCode(missingCodes, '', () => readFileSync(environmentPaths(entryFolder).record, 'utf8'));
  return environmentSchema.safeParse(fromJson(text)).data;
}

export const environmentExists = (dataDir: string, name: string): boolean =>
  existsSync(environmentPaths(environmentFolder(dataDir, name)).record);

/** Recreates the folder of an environment; its user may write only in `files`. */
export async function recreateEnvironmentFolder(
  dataDir: string,
  entryFolder: string,
  user: ProcessUser | undefined,
): Promise<void> {
  await removeTree(entryFolder);
  for (const path of [environmentsFolder(dataDir), dirname(entryFolder), entryFolder]) {
    await mkdir(path, { recursive: true });
    // Other users may traverse, but not list: the folders below belong to one user each.
    await chmod(path, 0o711);
  }
  await makeUserFolder(environmentPaths(entryFolder).files, user);
}

/** Creates an empty folder for the build's user, in a folder that only this service writes to. */
export async function makeUserFolder(path: string, user: ProcessUser | undefined): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  if (user) lchownSync(path, user.uid, user.gid);
}

/** Records that an environment is complete. */
export async function recordEnvironment(entryFolder: string, environment: Environment): Promise<void> {
  const { record } = environmentPaths(entryFolder);
  writeFileSync(`${record}.new`, JSON.stringify(environment), { mode: 0o600 });
  await rename(`${record}.new`, record);
}

/** Records the use of an environment: unused ones are kept for some time after their last use. */
export async function recordUse(entryFolder: string): Promise<void> {
  const now = new Date();
  await utimes(environmentPaths(entryFolder).record, now, now);
}

/** The text of a requirements file that selects exactly these packages. */
export const requirementsOf = ({ packages }: Pick<InstalledPackages, 'packages'>): string =>
  packages
    .filter(([name]) => name !== 'pip')
    .map(([name, version, url]) => `${url === null ? `${name}==${version}` : `${name} @ ${url}`}\n`)
    .join('');
