import { readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import * as z from 'zod';
import { fromJson } from '../../../kit/json-text.ts';
import { messageOf, missingCodes, unlessCode } from '../../../kit/errors.ts';
import type { Build } from './build.ts';
import { environmentExists } from './python/environment-store.ts';
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
  /** The Python environment; exists only where the agent has graphs in Python. */
  python: string;
}

export const buildsFolder = (dataDir: string): string => join(dataDir, 'builds');

export function buildFolder(dataDir: string, revisionId: string): BuildFolder {
  const root = join(buildsFolder(dataDir), revisionId);
  return {
    root,
    source: join(root, 'source'),
    home: join(root, 'home'),
    temporary: join(root, 'tmp'),
    staging: join(root, 'stage'),
    python: join(root, 'python'),
  };
}

/** Recreates the folders of a build. A build's user may traverse the parent folders, which the service owns, not list them. */
export async function recreateBuildFolder(dataDir: string, revisionId: string): Promise<BuildFolder> {
  const folder = buildFolder(dataDir, revisionId);
  await removeTree(folder.root);
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  for (const path of [buildsFolder(dataDir), folder.root]) {
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

/** Removes an unused build, its record first, so that a partly removed build never counts as complete. */
export async function cleanUp(root: string, report: (message: string) => void): Promise<void> {
  await removeOrReport(recordFile(root), report);
  await removeOrReport(root, report);
}

/** Removes a folder or file of builds. Only reports a failure: the next start tries again. */
export const removeOrReport = (path: string, report: (message: string) => void): Promise<void> =>
  removeTree(path).catch((error: unknown) => report(`${path} could not be removed: ${messageOf(error)}`));

/** The file that marks a build as complete; it is written last. */
const recordFile = (root: string): string => join(root, 'build.json');
const recordSchema = z.object({
  commit: z.string().optional(),
  tarballDigest: z.string().optional(),
  graphConfigPath: z.string(),
  /** The name of the shared Python environment, or null where this build has one of its own. */
  python: z.string().nullable().optional(),
  /** Whether it left files in its home. */
  usesHome: z.boolean().optional(),
});

export function recordBuild({ folder, from, graphConfigFile, python, usesHome }: Build): void {
  const temporary = `${recordFile(folder)}.new`;
  const sourceId = from.kind === 'commit' ? { commit: from.commit } : { tarballDigest: from.digest };
  const graphConfigPath = relative(realpathSync(folder), graphConfigFile);
  writeFileSync(
    temporary,
    JSON.stringify({ ...sourceId, graphConfigPath, ...(python && { python: python.shared ?? null }), usesHome }),
  );
  renameSync(temporary, recordFile(folder));
}

/** The complete build in a folder, if any. Ignores a build whose record is invalid or whose packages are missing. */
export function readBuild(folder: string): Build | undefined {
  const read = readRecord(folder);
  if (!read) return undefined;
  const { commit, tarballDigest: digest, python: name, usesHome } = read;
  if (typeof name === 'string' && !environmentExists(dirname(dirname(folder)), name)) return undefined;
  const python = name === undefined ? undefined : { shared: name ?? undefined };
  const graphConfigFile = join(folder, read.graphConfigPath);
  const build = { folder, graphConfigFile, ...(python && { python }), ...(usesHome === undefined ? {} : { usesHome }) };
  if (commit !== undefined) return { ...build, from: { kind: 'commit', commit } };
  return digest === undefined ? undefined : { ...build, from: { kind: 'tarball', digest } };
}

const readRecord = (folder: string): z.infer<typeof recordSchema> | undefined =>
  recordSchema.safeParse(fromJson(unlessCode(missingCodes, '', () => readFileSync(recordFile(folder), 'utf8')))).data;

/** The names of the shared Python environments that builds need. */
export const environmentsNeeded = (dataDir: string): Set<string> =>
  new Set(listBuilds(dataDir).flatMap((id) => readRecord(buildFolder(dataDir, id).root)?.python ?? []));

/** The names of all build folders, complete or not. */
export const listBuilds = (dataDir: string): string[] =>
  unlessCode(['ENOENT'], [], () => readdirSync(buildsFolder(dataDir)));

/** Whether a path is inside the folder, or the folder itself. Both must be real paths. */
export function isWithin(folder: string, path: string): boolean {
  const relativePath = relative(folder, path);
  return (
    relativePath === '' || (relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath))
  );
}
