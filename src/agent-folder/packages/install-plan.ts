import { lockFiles, modernYarnSettings, namesModernYarn, type PackageManager } from './lock-files.ts';

/** What decides how the packages of a folder are installed. */
export interface ProjectFolder {
  /** The names of the files and folders in it. */
  /** Relative to the repository's root; empty for the root itself. */
  path: string;
  entries: ReadonlySet<string>;
  /** `packageManager` of its package.json, for example `pnpm@10.1.0`. */
  packageManager?: string | undefined;
  /** Whether its yarn.lock is from Yarn 2 or newer. */
  hasModernYarnLock?: boolean | undefined;
  /** Whether it declares workspaces. */
  hasWorkspaces?: boolean | undefined;
}

export type InstallPlan =
  | { kind: 'command'; command: string }
  | {
      kind: 'manager';
      manager: PackageManager;
      args: string[];
      folder: string;
      reason: string;
      /** The name of the lock file; undefined if the install creates one. */
      lockFile: string | undefined;
    }
  | { kind: 'nothing'; reason: string };

/** The arguments to install exactly the versions of the lock file. */
function frozenInstallArgs(manager: PackageManager, modernYarn = false): string[] {
  if (manager === 'npm') return ['ci'];
  return ['install', manager === 'yarn' && modernYarn ? '--immutable' : '--frozen-lockfile'];
}

/** The arguments to install and create a lock file, which most managers refuse in a build by default. */
function lockingInstallArgs(manager: PackageManager, modernYarn: boolean): string[] {
  if (manager === 'pnpm') return ['install', '--no-frozen-lockfile'];
  return manager === 'yarn' && modernYarn ? ['install', '--no-immutable'] : ['install'];
}

/**
 * Decides how to install (docs/design/contract.md#deployment-settings: `install_command`). Without a command, uses the
 * lock file nearest to the graph configuration, up to the root: a workspace is installed from its root, an independent
 * package from its own folder. Without a lock file, the install creates one.
 *
 * @param folders from the graph configuration's folder up to the repository's root.
 */
export function planInstall(installCommand: string | undefined, folders: readonly ProjectFolder[]): InstallPlan {
  if (installCommand !== undefined) return { kind: 'command', command: installCommand };
  for (const folder of folders) {
    const candidates = lockFiles.filter(([file]) => folder.entries.has(file));
    const declaredManager = folder.packageManager?.split('@')[0];
    const [chosen] = [...candidates.filter(([, manager]) => manager === declaredManager), ...candidates];
    if (!chosen) continue;
    const [file, manager] = chosen;
    const ignored = candidates.filter((other) => other !== chosen).map(([other]) => other);
    const ignoredNote = ignored.length === 0 ? '' : `; ${ignored.join(' and ')} beside it is not used`;
    const reason = `${pathInFolder(file, folder.path)} selects ${manager}${ignoredNote}`;
    return {
      kind: 'manager',
      manager,
      args: frozenInstallArgs(manager, folder.hasModernYarnLock),
      folder: folder.path,
      reason,
      lockFile: file,
    };
  }
  const packages = folders.filter(({ entries }) => entries.has('package.json'));
  const installFolder = packages.find(({ hasWorkspaces }) => hasWorkspaces === true) ?? packages[0];
  if (!installFolder) return { kind: 'nothing', reason: 'There is no package.json, so no packages are installed.' };
  // Like Corepack, use the nearest declaration upwards.
  const packageManager = folders.find((folder) => folder.packageManager !== undefined)?.packageManager;
  const manager = managerWithoutLock({ ...installFolder, packageManager });
  const isModernYarn = namesModernYarn(packageManager) || installFolder.entries.has(modernYarnSettings);
  const reason = `${pathInFolder('package.json', installFolder.path)} has no lock file beside or above it`;
  return {
    kind: 'manager',
    manager,
    args: lockingInstallArgs(manager, isModernYarn),
    folder: installFolder.path,
    reason,
    lockFile: undefined,
  };
}

function managerWithoutLock({ packageManager, entries }: ProjectFolder): PackageManager {
  const declaredManager = packageManager?.split('@')[0];
  const manager = lockFiles.map(([, each]) => each).find((each) => each === declaredManager);
  return manager ?? (entries.has('pnpm-workspace.yaml') ? 'pnpm' : entries.has(modernYarnSettings) ? 'yarn' : 'npm');
}

/** The warning about an install without a lock file. */
export const unlockedWarning = (reason: string): string =>
  `${reason}: its packages may differ in the next revision. Commit a lock file.`;

export const pathInFolder = (file: string, folder: string): string => (folder === '' ? file : `${folder}/${file}`);
