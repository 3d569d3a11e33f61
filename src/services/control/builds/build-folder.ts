import { readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import * as z from 'zod';
import { fromJson } from '../../../kit/json-text.ts';
import { messageOf, missingCodes, unlessCode } from '../../../kit/errors.ts';
import type { Build } from './build.ts';
import { isEnvironmentThere } from './python/environment-store.ts';
import { removeTree } from './remove-tree.ts';

export interface BuildFolder {
  /** `<data>/builds/<revision id>` */
  root: string;
  source: string;
  /** The home of the build's commands and of the agent. */
  home: string;
  temporary: string;
  /** Where packages are installed for the dependency store; exists only during the install. */
  staging: string;
  /** The environment of graphs in Python; only there with such. */
  python: string;
}

export const buildsIn = (dataDir: string): string => join(dataDir, 'builds');

export function buildFolder(dataDir: string, revisionId: string): BuildFolder {
  const root = join(buildsIn(dataDir), revisionId);
  return {
    root,
    source: join(root, 'source'),
    home: join(root, 'home'),
    temporary: join(root, 'tmp'),
    staging: join(root, 'stage'),
    python: join(root, 'python'),
  };
}

/** Recreates the folders of a build. The parent folders stay the service's: a build's user may traverse, not list them. */
export async function freshBuildFolder(dataDir: string, revisionId: string): Promise<BuildFolder> {
  const folder = buildFolder(dataDir, revisionId);
  await removeTree(folder.root);
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  for (const path of [buildsIn(dataDir), folder.root]) {
    await mkdir(path, { recursive: true });
    await chmod(path, 0o711);
  }
  for (const path of [folder.source, folder.home, folder.temporary]) await mkdir(path, { mode: 0o700 });
  return folder;
}

/** Empties the checkout of a build before its first command. */
export async function emptySource({ source }: BuildFolder): Promise<void> {
  await removeTree(source);
  await mkdir(source, { mode: 0o700 });
}

/** Removes an unused build, its record first, so that a partial build is never taken for a complete one. */
export async function cleanUp(root: string, report: (message: string) => void): Promise<void> {
  await removeOrReport(recordOf(root), report);
  await removeOrReport(root, report);
}

/** Removes a folder or file of builds. A failure is only reported: the next start retries. */
export const removeOrReport = (path: string, report: (message: string) => void): Promise<void> =>
  removeTree(path).catch((error: unknown) => report(`${path} could not be removed: ${messageOf(error)}`));

/** The file that says that a build is complete; it is written last. */
const recordOf = (root: string): string => join(root, 'build.json');
const record = z.object({
  commit: z.string().optional(),
  tarballDigest: z.string().optional(),
  graphConfigPath: z.string(),
  /** The environment with the packages of graphs in Python: its name, or null for one of this build alone. */
  python: z.string().nullable().optional(),
});

export function recordBuild({ folder, from, graphConfigFile, python }: Build): void {
  const temporary = `${recordOf(folder)}.new`;
  const what = from.kind === 'commit' ? { commit: from.commit } : { tarballDigest: from.digest };
  const graphConfigPath = relative(realpathSync(folder), graphConfigFile);
  writeFileSync(
    temporary,
    JSON.stringify({ ...what, graphConfigPath, ...(python && { python: python.shared ?? null }) }),
  );
  renameSync(temporary, recordOf(folder));
}

/** The complete build in a folder, if any. An invalid record counts as none, as does a build without its packages. */
export function readBuild(folder: string): Build | undefined {
  const read = readRecord(folder);
  if (!read) return undefined;
  const { commit, tarballDigest: digest, python: name } = read;
  if (typeof name === 'string' && !isEnvironmentThere(dirname(dirname(folder)), name)) return undefined;
  const python = name === undefined ? undefined : { shared: name ?? undefined };
  const built = { folder, graphConfigFile: join(folder, read.graphConfigPath), ...(python && { python }) };
  if (commit !== undefined) return { ...built, from: { kind: 'commit', commit } };
  return digest === undefined ? undefined : { ...built, from: { kind: 'tarball', digest } };
}

const readRecord = (folder: string): z.infer<typeof record> | undefined =>
  record.safeParse(fromJson(unlessCode(missingCodes, '', () => readFileSync(recordOf(folder), 'utf8')))).data;

/** The names of the environments of Python that builds need. */
export const environmentsNeeded = (dataDir: string): Set<string> =>
  new Set(buildsThere(dataDir).flatMap((id) => readRecord(buildFolder(dataDir, id).root)?.python ?? []));

/** The revisions with a folder of builds, complete or not. */
export const buildsThere = (dataDir: string): string[] =>
  unlessCode(['ENOENT'], [], () => readdirSync(buildsIn(dataDir)));

/** Whether a path is inside the folder, or the folder itself. Both must be real paths. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
