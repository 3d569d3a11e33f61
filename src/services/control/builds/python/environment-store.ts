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
 * Where environments of Python are kept: at their final places, which they name inside, so that builds with the same
 * packages share one. Those of one user's processes are never given to another, nor those of one tenant.
 */
export const environmentsIn = (dataDir: string): string => join(dataDir, 'python');

/** The name of an environment, as builds record it: it is below `environmentsIn`. */
export const environmentName = (tenantId: string, key: string): string => `${tenantId}/${key}`;

export const environmentFolder = (dataDir: string, name: string): string => join(environmentsIn(dataDir), name);

/** The parts of an environment's folder. What the build's user writes is below `files`. */
export const partsOf = (entry: string) => ({
  files: join(entry, 'files'),
  environment: join(entry, 'files', 'env'),
  aside: join(entry, 'files', 'aside'),
  record: join(entry, 'entry.json'),
});

const installed = z.object({
  python: z.string().max(100),
  /** The folder of its packages. */
  site: z.string().max(10_000),
  packages: z.array(z.tuple([z.string().max(1_000), z.string().max(1_000), z.string().max(10_000).nullable()])),
  is_shared: z.boolean(),
});
/** What is installed in an environment: name, version and, where it is not from the index, the address of each package. */
export type Installed = z.infer<typeof installed>;

const entry = installed.extend({ source: z.string() });
/** A complete environment, and the checkout that it was installed from. */
export type Environment = z.infer<typeof entry>;

/** The largest list of packages that is read. */
const maxListBytes = 4_000_000;
const listName = 'packages.json';
export const listIn = (entryFolder: string): string => join(partsOf(entryFolder).files, listName);

/** The list that the build's user wrote into a folder; undefined for an invalid one. */
export const readListFile = (folder: string, name: string): Installed | undefined =>
  installed.safeParse(fromJson(readBelow(folder, name, maxListBytes)?.toString() ?? '')).data;

export const readList = (entryFolder: string): Installed | undefined =>
  readListFile(partsOf(entryFolder).files, listName);

/** The complete environment in a folder, if any: its record is written last. */
export function readEnvironment(entryFolder: string): Environment | undefined {
  const text = unlessCode(missingCodes, '', () => readFileSync(partsOf(entryFolder).record, 'utf8'));
  return entry.safeParse(fromJson(text)).data;
}

export const isEnvironmentThere = (dataDir: string, name: string): boolean =>
  existsSync(partsOf(environmentFolder(dataDir, name)).record);

/** Makes the folder of an environment anew, of which the user may write in `files` alone. */
export async function freshEnvironment(
  dataDir: string,
  entryFolder: string,
  user: ProcessUser | undefined,
): Promise<void> {
  await removeTree(entryFolder);
  for (const path of [environmentsIn(dataDir), dirname(entryFolder), entryFolder]) {
    await mkdir(path, { recursive: true });
    // Others pass through, and can't list: the folders below are the user's alone.
    await chmod(path, 0o711);
  }
  await ownFolder(partsOf(entryFolder).files, user);
}

/** Makes an empty folder of the build's user, in a folder that only this service writes to. */
export async function ownFolder(path: string, user: ProcessUser | undefined): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  if (user) lchownSync(path, user.uid, user.gid);
}

/** Records that an environment is complete. */
export async function recordEnvironment(entryFolder: string, environment: Environment): Promise<void> {
  const { record } = partsOf(entryFolder);
  writeFileSync(`${record}.new`, JSON.stringify(environment), { mode: 0o600 });
  await rename(`${record}.new`, record);
}

/** Records the use of an environment: those that no build needs are kept for some time after it. */
export async function noteUse(entryFolder: string): Promise<void> {
  const now = new Date();
  await utimes(partsOf(entryFolder).record, now, now);
}

/** The packages as a file of requirements that selects the same ones again. */
export const requirementsOf = ({ packages }: Pick<Installed, 'packages'>): string =>
  packages
    .filter(([name]) => name !== 'pip')
    .map(([name, version, url]) => `${url === null ? `${name}==${version}` : `${name} @ ${url}`}\n`)
    .join('');
