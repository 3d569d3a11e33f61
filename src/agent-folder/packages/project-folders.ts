import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { missingCodes, unlessCode } from '../../kit/errors.ts';
import { lockFiles, engineProblem, lockedEngine, isModernYarnLock } from './lock-files.ts';
import { inFolder, type InstallPlan, type ProjectFolder } from './install-plan.ts';
import { readBelow } from './checkout-files.ts';
import { isObject } from '../../kit/json-object.ts';
import { fromJson, holdsMore } from '../../kit/json-text.ts';

/** The most bytes that are read of these files: a longer manifest is invalid, and a lock file names its kind at the top. */
export const maxManifestSize = 1_000_000;
export const lockStart = 4_096;
const maxLockSize = 32_000_000;

/** The folders from one up to the checkout's root, both real paths. */
export function projectFolders(folder: string, source: string): ProjectFolder[] {
  const seen = readProjectFolder(folder, relative(source, folder));
  return folder === source ? [seen] : [seen, ...projectFolders(dirname(folder), source)];
}

/** What decides how a folder's packages are installed. */
export function readProjectFolder(folder: string, path: string): ProjectFolder {
  const bytes = readBelow(folder, 'package.json', maxManifestSize);
  return {
    path,
    files: new Set(readdirSync(folder)),
    packageManager: bytes && packageManagerOf(bytes.toString()),
    modernYarn: isModernYarnLock(readBelow(folder, 'yarn.lock', lockStart) ?? ''),
    workspaces: (bytes !== undefined && declaresWorkspaces(bytes)) || declaresPnpmWorkspace(folder),
  };
}

/** Whether pnpm finds packages below a folder: the file may hold settings alone. */
const declaresPnpmWorkspace = (folder: string): boolean =>
  /^["']?packages["']?\s*:/m.test(readBelow(folder, 'pnpm-workspace.yaml', maxManifestSize)?.toString() ?? '');

/** The most values of a package.json: parsing more blocks the service. */
export const maxManifestValues = 10_000;

function packageManagerOf(manifest: string): string | undefined {
  const read = holdsMore(manifest, maxManifestValues) ? undefined : fromJson(manifest);
  const named = isObject(read) ? read['packageManager'] : undefined;
  return typeof named === 'string' ? named : undefined;
}

type ManagerPlan = Extract<InstallPlan, { kind: 'manager' }>;

/** Why the engine that a lock file names can't run, and in which file that is; undefined where it can, or none is named. */
export function lockedEngineProblem(
  { manager, folder, lock }: Pick<ManagerPlan, 'manager' | 'folder' | 'lock'>,
  source: string,
): { file: string; message: string } | undefined {
  if (lock === undefined) return undefined;
  const text = readBelow(join(source, folder), lock, maxLockSize)?.toString() ?? '';
  const message = engineProblem(lockedEngine(manager, text));
  return message === undefined ? undefined : { file: inFolder(lock, folder), message };
}

/**
 * The folder and those above it, up to the one that its packages are installed in: the first with a lock file or
 * workspaces. Without one, the packages right above it. Further folders are not the agent's.
 */
export function packageFolders(folder: string): string[] {
  const all = foldersUp(folder);
  const root = all.findIndex(isInstalled);
  if (root >= 0) return all.slice(0, root + 1);
  const end = all.findIndex((each, at) => at > 0 && !existsSync(join(each, 'package.json')));
  return end < 0 ? all : all.slice(0, end);
}

const foldersUp = (folder: string): string[] => {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUp(parent)];
};

const isInstalled = (folder: string): boolean =>
  [...lockFiles.map(([file]) => file), 'pnpm-workspace.yaml'].some((file) => existsSync(join(folder, file))) ||
  declaresWorkspaces(unlessCode(missingCodes, '', () => readFileSync(join(folder, 'package.json'), 'utf8')));

/** Whether a package.json declares workspaces. It isn't parsed: an invalid one is reported elsewhere. */
export const declaresWorkspaces = (text: string | Buffer): boolean => /"workspaces"\s*:/.test(text.toString());
