import { readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import * as z from 'zod';
import { hasCode, messageOf } from '../../database/embedded/file-errors.ts';
import type { Build, BuiltFrom } from './build.ts';

/** The folders of one build. */
export interface BuildFolder {
  /** `<data>/builds/<revision id>` */
  root: string;
  /** The checkout of the repository. */
  source: string;
  /** The home of all commands of the build, and of the agent. */
  home: string;
  /** Temporary files of the build's commands. */
  temporary: string;
}

const buildsIn = (dataDir: string): string => join(dataDir, 'builds');

/** Where the build of a revision lies, or would. */
export function buildFolder(dataDir: string, revisionId: string): BuildFolder {
  const root = join(buildsIn(dataDir), revisionId);
  return { root, source: join(root, 'source'), home: join(root, 'home'), temporary: join(root, 'tmp') };
}

/** Makes the folders of a build anew: what an earlier attempt left is removed. */
export async function freshBuildFolder(dataDir: string, revisionId: string): Promise<BuildFolder> {
  const folder = buildFolder(dataDir, revisionId);
  await removeBuild(folder.root);
  for (const path of [folder.source, folder.home, folder.temporary])
    await mkdir(path, { recursive: true, mode: 0o700 });
  return folder;
}

/** Removes a build; one that is not there is no error. */
async function removeBuild(root: string): Promise<void> {
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async (error: unknown) => {
    // Nothing can be taken out of a folder that a build closed, even by its owner.
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    await openFolders(root);
    await remove();
  });
}

/**
 * Lets us write into every folder of a tree; links are not followed. The attempt that failed may still be removing other
 * parts of it: what is gone meanwhile needs no opening.
 */
async function openFolders(folder: string): Promise<void> {
  try {
    await chmod(folder, 0o700);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) await openFolders(join(folder, entry.name));
    }
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/**
 * Removes a build that nobody needs. One that can't be removed is told and stays until the next start tries again: no
 * revision and no start has to fail for it.
 */
export async function clearAway(root: string, tell: (message: string) => void): Promise<void> {
  await removeBuild(root).catch((error: unknown) => {
    tell(`${root} could not be removed: ${messageOf(error)}`);
  });
}

/** The file that says that a build is complete; it is written last. */
const recordOf = (root: string): string => join(root, 'build.json');
const record = z.object({
  commit: z.string().optional(),
  tarballDigest: z.string().optional(),
  graphConfigPath: z.string(),
});

const builtFrom = ({ commit, tarballDigest }: z.infer<typeof record>): BuiltFrom | undefined => {
  if (commit !== undefined) return { kind: 'commit', commit };
  return tarballDigest === undefined ? undefined : { kind: 'tarball', digest: tarballDigest };
};

/** Declares a build complete. */
export function recordBuild({ folder, from, graphConfigFile }: Build): void {
  const temporary = `${recordOf(folder)}.new`;
  const what = from.kind === 'commit' ? { commit: from.commit } : { tarballDigest: from.digest };
  writeFileSync(
    temporary,
    JSON.stringify({ ...what, graphConfigPath: relative(realpathSync(folder), graphConfigFile) }),
  );
  renameSync(temporary, recordOf(folder));
}

/**
 * The build in a folder, if there is a complete one. What else its record may hold, as after the machine lost its power,
 * says that there is none, so that it is made again.
 */
export function readBuild(folder: string): Build | undefined {
  try {
    const { success, data } = record.safeParse(JSON.parse(readFileSync(recordOf(folder), 'utf8')));
    const from = success ? builtFrom(data) : undefined;
    return success && from ? { folder, from, graphConfigFile: join(folder, data.graphConfigPath) } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** The revisions that something lies in the folder of builds for, complete or not. */
export function buildsThere(dataDir: string): string[] {
  try {
    return readdirSync(buildsIn(dataDir));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Whether a path is the folder or lies below it. Both are real paths. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
