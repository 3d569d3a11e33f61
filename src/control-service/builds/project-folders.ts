import { readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { engineProblem, lockedEngine } from '../../agent-packages/engine-version.ts';
import { inFolder, type InstallPlan, type ProjectFolder } from '../../agent-packages/install-plan.ts';
import { isModernYarnLock } from '../../agent-packages/lock-files.ts';
import { declaresWorkspaces } from '../../agent-packages/package-folders.ts';
import { readBelow } from './checkout-files.ts';
import { readManifest } from './manifests.ts';

/** The most bytes that are read of these files: a longer manifest is invalid, and a lock file names its kind at the top. */
export const largestManifest = 1_000_000;
export const lockStart = 4_096;
const largestLock = 32_000_000;

/** The folders from one up to the checkout's root, both real paths. */
export function projectFolders(folder: string, source: string): ProjectFolder[] {
  const seen = readProjectFolder(folder, relative(source, folder));
  return folder === source ? [seen] : [seen, ...projectFolders(dirname(folder), source)];
}

/** What decides how a folder's packages are installed. */
export function readProjectFolder(folder: string, path: string): ProjectFolder {
  const bytes = readBelow(folder, 'package.json', largestManifest);
  return {
    path,
    files: new Set(readdirSync(folder)),
    packageManager: bytes && readManifest(bytes)?.packageManager,
    modernYarn: isModernYarnLock(readBelow(folder, 'yarn.lock', lockStart) ?? ''),
    workspaces: bytes !== undefined && declaresWorkspaces(bytes),
  };
}

type ManagerPlan = Extract<InstallPlan, { kind: 'manager' }>;

/** Why the engine that a lock file names can't run, and in which file that is; undefined where it can, or none is named. */
export function lockedEngineProblem(
  { manager, folder, lock }: Pick<ManagerPlan, 'manager' | 'folder' | 'lock'>,
  source: string,
): { file: string; message: string } | undefined {
  if (lock === undefined) return undefined;
  const text = readBelow(join(source, folder), lock, largestLock)?.toString() ?? '';
  const message = engineProblem(lockedEngine(manager, text));
  return message === undefined ? undefined : { file: inFolder(lock, folder), message };
}
