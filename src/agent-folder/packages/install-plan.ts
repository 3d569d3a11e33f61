import { lockFiles, modernYarnSettings, namesModernYarn, type PackageManager } from './lock-files.ts';

export interface ProjectFolder {
  /** Relative to the repository's root; empty for the root itself. */
  path: string;
  files: ReadonlySet<string>;
  /** `packageManager` of its package.json, if any: `pnpm@10.1.0`. */
  packageManager?: string | undefined;
  /** Its yarn.lock is from Yarn 2 or newer. */
  modernYarn?: boolean | undefined;
  /** It declares workspaces. */
  workspaces?: boolean | undefined;
}

export type InstallPlan =
  | { kind: 'command'; command: string }
  | {
      kind: 'manager';
      manager: PackageManager;
      args: string[];
      folder: string;
      why: string;
      /** The lock file; undefined where the install makes it. */
      lock: string | undefined;
    }
  | { kind: 'nothing'; why: string };

/** The arguments that install exactly what the lock file names. */
function argsOf(manager: PackageManager, modernYarn = false): string[] {
  if (manager === 'npm') return ['ci'];
  return ['install', manager === 'yarn' && modernYarn ? '--immutable' : '--frozen-lockfile'];
}

/** The arguments that make a lock file. Most managers refuse that in a build unless they are told to. */
function argsToLock(manager: PackageManager, modernYarn: boolean): string[] {
  if (manager === 'pnpm') return ['install', '--no-frozen-lockfile'];
  return manager === 'yarn' && modernYarn ? ['install', '--no-immutable'] : ['install'];
}

/**
 * Decides how to install (docs/design/contract.md#deployment-settings: `install_command`). Without a command, uses the
 * lock file nearest to the graph configuration, up to the root: a workspace is installed from its root, an independent
 * package from its own folder. Without a lock file the install makes one.
 *
 * @param folders from the graph configuration's folder up to the repository's root.
 */
export function planInstall(installCommand: string | undefined, folders: readonly ProjectFolder[]): InstallPlan {
  if (installCommand !== undefined) return { kind: 'command', command: installCommand };
  for (const folder of folders) {
    const found = lockFiles.filter(([file]) => folder.files.has(file));
    const named = folder.packageManager?.split('@')[0];
    const [lock] = [...found.filter(([, manager]) => manager === named), ...found];
    if (!lock) continue;
    const [file, manager] = lock;
    const others = found.filter((other) => other !== lock).map(([other]) => other);
    const aside = others.length === 0 ? '' : `; ${others.join(' and ')} beside it is not used`;
    const why = `${inFolder(file, folder.path)} selects ${manager}${aside}`;
    return { kind: 'manager', manager, args: argsOf(manager, folder.modernYarn), folder: folder.path, why, lock: file };
  }
  const packages = folders.filter(({ files }) => files.has('package.json'));
  const unlocked = packages.find(({ workspaces }) => workspaces === true) ?? packages[0];
  if (!unlocked) return { kind: 'nothing', why: 'There is no package.json, so no packages are installed.' };
  // Corepack looks upwards too.
  const packageManager = folders.find((folder) => folder.packageManager !== undefined)?.packageManager;
  const manager = managerWithoutLock({ ...unlocked, packageManager });
  const modern = namesModernYarn(packageManager) || unlocked.files.has(modernYarnSettings);
  const why = `${inFolder('package.json', unlocked.path)} has no lock file beside or above it`;
  return { kind: 'manager', manager, args: argsToLock(manager, modern), folder: unlocked.path, why, lock: undefined };
}

function managerWithoutLock({ packageManager, files }: ProjectFolder): PackageManager {
  const named = packageManager?.split('@')[0];
  const manager = lockFiles.map(([, each]) => each).find((each) => each === named);
  return manager ?? (files.has('pnpm-workspace.yaml') ? 'pnpm' : files.has(modernYarnSettings) ? 'yarn' : 'npm');
}

/** What an install without a lock file warns of. */
export const unlockedWarning = (why: string): string =>
  `${why}: its packages may differ in the next revision. Commit a lock file.`;

export const inFolder = (file: string, folder: string): string => (folder === '' ? file : `${folder}/${file}`);
