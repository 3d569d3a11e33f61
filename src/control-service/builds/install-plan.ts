/** The parts of a folder of the checkout that decide the install. */
export interface SeenFolder {
  /** Relative to the repository's root; empty for the root itself. */
  path: string;
  /** The names of its files. */
  files: ReadonlySet<string>;
  /** `packageManager` of its package.json, if any: `pnpm@10.1.0`. */
  packageManager?: string | undefined;
  /** Its yarn.lock is from Yarn 2 or newer. */
  modernYarn?: boolean | undefined;
}

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** How the packages of a build are installed. */
export type InstallPlan =
  | { kind: 'command'; command: string }
  | { kind: 'manager'; manager: PackageManager; args: string[]; folder: string; why: string }
  | { kind: 'nothing'; why: string }
  | { kind: 'refused'; reason: string };

const lockFiles: readonly [file: string, manager: PackageManager][] = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

/** The arguments that install exactly what the lock file names. */
const argsOf = (manager: PackageManager, modernYarn: boolean): string[] => {
  if (manager === 'npm') return ['ci'];
  return ['install', manager === 'yarn' && modernYarn ? '--immutable' : '--frozen-lockfile'];
};

/**
 * Decides how to install (control-service.md, source_config: `install_command`). Without a command, uses the lock file
 * nearest to the graph configuration: in its folder, or above it up to the root. So a workspace is installed from its root
 * with its one lock file, and an independent package from its own folder.
 *
 * @param folders from the graph configuration's folder up to the repository's root.
 */
export function planInstall(installCommand: string | undefined, folders: readonly SeenFolder[]): InstallPlan {
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
    return { kind: 'manager', manager, args: argsOf(manager, folder.modernYarn ?? false), folder: folder.path, why };
  }
  const unlocked = folders.find(({ files }) => files.has('package.json'));
  if (!unlocked) return { kind: 'nothing', why: 'There is no package.json, so no packages are installed.' };
  return {
    kind: 'refused',
    reason: `${inFolder('package.json', unlocked.path)} has no lock file beside or above it. Commit one (package-lock.json, pnpm-lock.yaml, yarn.lock or bun.lock), or set source_config.install_command.`,
  };
}

/** An install command that equals a package manager's own install: its result can be stored. */
const plainInstall =
  /^(?:(npm) (?:ci|install|i)|(pnpm) (?:install|i)|(yarn)(?: install)?|(bun) (?:install|i))(?: --(?:frozen-lockfile|immutable|ignore-scripts|legacy-peer-deps|no-audit|no-fund|omit=dev|omit=optional|production|prod|prefer-offline|force))*$/;

/** The package manager of a plain install command; undefined for any other command. */
export function managerOf(installCommand: string): PackageManager | undefined {
  const [, ...managers] = plainInstall.exec(installCommand.trim()) ?? [];
  const name = managers.find((each) => each !== undefined);
  return lockFiles.map(([, manager]) => manager).find((manager) => manager === name);
}

/** Whether a folder has a lock file of a package manager. */
export const isLockedFor = (manager: PackageManager, files: ReadonlySet<string>): boolean =>
  lockFiles.some(([file, other]) => other === manager && files.has(file));

const inFolder = (file: string, folder: string): string => (folder === '' ? file : `${folder}/${file}`);
