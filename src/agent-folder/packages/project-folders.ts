import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { missingCodes, unlessCode } from '../../kit/errors.ts';
import { lockFiles, engineProblem, lockedEngineVersion, isModernYarnLock } from './lock-files.ts';
import { pathInFolder, type InstallPlan, type ProjectFolder } from './install-plan.ts';
import { readBelow } from './checkout-files.ts';
import { isObject } from '../../kit/json-object.ts';
import { fromJson, holdsMore } from '../../kit/json-text.ts';

/** How many bytes of a manifest are read; a longer one is invalid. */
export const maxManifestSize = 1_000_000;
/** How many bytes of a lock file are read to find its format, which is at the top. */
export const lockStart = 4_096;
const maxLockSize = 32_000_000;

/** A folder and those above it, up to the checkout's root. Both arguments are real paths. */
export function projectFolders(folder: string, source: string): ProjectFolder[] {
  const current = readProjectFolder(folder, relative(source, folder));
  return folder === source ? [current] : [current, ...projectFolders(dirname(folder), source)];
}

/** Reads a folder. @param path the folder relative to the checkout's root. */
export function readProjectFolder(folder: string, path: string): ProjectFolder {
  const bytes = readBelow(folder, 'package.json', maxManifestSize);
  return {
    path,
    entries: new Set(readdirSync(folder)),
    packageManager: bytes && packageManagerOf(bytes.toString()),
    hasModernYarnLock: isModernYarnLock(readBelow(folder, 'yarn.lock', lockStart) ?? ''),
    hasWorkspaces: (bytes !== undefined && declaresWorkspaces(bytes)) || declaresPnpmWorkspace(folder),
  };
}

/** Whether pnpm-workspace.yaml lists packages; it may contain settings only. */
const declaresPnpmWorkspace = (folder: string): boolean =>
  /^["']?packages["']?\s*:/m.test(readBelow(folder, 'pnpm-workspace.yaml', maxManifestSize)?.toString() ?? '');

/** A package.json with more values is not parsed: parsing would block the service. */
export const maxManifestValues = 10_000;

function packageManagerOf(manifest: string): string | undefined {
  const parsed = holdsMore(manifest, maxManifestValues) ? undefined : fromJson(manifest);
  const declared = isObject(parsed) ? parsed['packageManager'] : undefined;
  return typeof declared === 'string' ? declared : undefined;
}

type ManagerPlan = Extract<InstallPlan, { kind: 'manager' }>;

/** The problem of a graph engine that is locked in a version that can't run; undefined if there is none. */
export function lockedEngineProblem(
  { manager, folder, lockFile }: Pick<ManagerPlan, 'manager' | 'folder' | 'lockFile'>,
  source: string,
): { file: string; message: string } | undefined {
  if (lockFile === undefined) return undefined;
  const text = readBelow(join(source, folder), lockFile, maxLockSize)?.toString() ?? '';
  const message = engineProblem(lockedEngineVersion(manager, text));
  return message === undefined ? undefined : { file: pathInFolder(lockFile, folder), message };
}

/**
 * The folders whose packages may belong to an agent: its own and those above it, up to the first one with a lock file
 * or workspaces. Without such a folder, those right above it that have a package.json.
 */
export function packageFolders(folder: string): string[] {
  const all = foldersUp(folder);
  const rootIndex = all.findIndex(isInstallRoot);
  if (rootIndex >= 0) return all.slice(0, rootIndex + 1);
  const end = all.findIndex((each, at) => at > 0 && !existsSync(join(each, 'package.json')));
  return end < 0 ? all : all.slice(0, end);
}

const foldersUp = (folder: string): string[] => {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUp(parent)];
};

const isInstallRoot = (folder: string): boolean =>
  [...lockFiles.map(([file]) => file), 'pnpm-workspace.yaml'].some((file) => existsSync(join(folder, file))) ||
  declaresWorkspaces(unlessCode(missingCodes, '', () => readFileSync(join(folder, 'package.json'), 'utf8')));

/** Whether a package.json declares workspaces. It isn't parsed: an invalid one is reported elsewhere. */
export const declaresWorkspaces = (text: string | Buffer): boolean => /"workspaces"\s*:/.test(text.toString());
