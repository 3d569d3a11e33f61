import { readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { stepFailed, succeeded, type RunningBuild, type StepResult } from './build.ts';
import { readBelow } from './checkout-files.ts';
import { findTool } from './find-tool.ts';
import { readManifest } from './manifests.ts';
import { installInPlace, installThroughStore } from './stored-install.ts';

export interface ProjectFolder {
  /** Relative to the repository's root; empty for the root itself. */
  path: string;
  files: ReadonlySet<string>;
  /** `packageManager` of its package.json, if any: `pnpm@10.1.0`. */
  packageManager?: string | undefined;
  /** Its yarn.lock is from Yarn 2 or newer. */
  modernYarn?: boolean | undefined;
}

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

type InstallPlan =
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
function argsOf(manager: PackageManager, modernYarn = false): string[] {
  if (manager === 'npm') return ['ci'];
  return ['install', manager === 'yarn' && modernYarn ? '--immutable' : '--frozen-lockfile'];
}

/**
 * Decides how to install (control-service.md, source_config: `install_command`). Without a command, uses the lock file
 * nearest to the graph configuration, up to the root: a workspace is installed from its root, an independent package
 * from its own folder.
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
    return { kind: 'manager', manager, args: argsOf(manager, folder.modernYarn), folder: folder.path, why };
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
function managerOf(installCommand: string): PackageManager | undefined {
  const [, ...managers] = plainInstall.exec(installCommand.trim()) ?? [];
  const name = managers.find((each) => each !== undefined);
  return lockFiles.map(([, manager]) => manager).find((manager) => manager === name);
}

const isLockedFor = (manager: PackageManager, files: ReadonlySet<string>): boolean =>
  lockFiles.some(([file, other]) => other === manager && files.has(file));

const inFolder = (file: string, folder: string): string => (folder === '' ? file : `${folder}/${file}`);

/** Installs the packages of a checkout, the real path `source`, as `planInstall` decides. */
export async function install(
  source: string,
  configFolder: string,
  running: RunningBuild,
): Promise<StepResult<'installed'>> {
  const { installCommand, log } = running.request;
  const path = running.env.PATH ?? '';
  const folders = foldersUp(configFolder, source);
  const plan = planInstall(installCommand, folders);
  switch (plan.kind) {
    case 'refused':
      return stepFailed(plan.reason);
    case 'nothing':
      log('info', plan.why);
      return succeeded('installed');
    case 'command': {
      log('info', `Installing: ${plan.command}`);
      const name = 'source_config.install_command';
      const requested = { name, command: '/bin/sh', args: ['-c', plan.command], folder: source };
      const manager = managerOf(plan.command);
      const top = folders.at(-1);
      return manager !== undefined && top && isLockedFor(manager, top.files) && findTool(manager, path)
        ? installThroughStore({ ...requested, manager, above: [] }, running)
        : installInPlace(requested, running);
    }
    case 'manager': {
      const { manager, args, why } = plan;
      if (!findTool(manager, path)) {
        return stepFailed(
          `${why}, which is not installed on this machine. Install ${manager}, or commit the lock file of another package manager, or set source_config.install_command.`,
        );
      }
      const command = [manager, ...args].join(' ');
      log('info', `Installing: ${command} (${why})`);
      const folder = join(source, plan.folder);
      const above = folders.filter((each) => isAbove(each.path, plan.folder)).map((each) => join(source, each.path));
      return installThroughStore({ name: command, command: manager, args, folder, manager, above }, running);
    }
  }
}

const isAbove = (path: string, other: string): boolean =>
  path !== other && (path === '' || other.startsWith(`${path}/`));

/** The most bytes that are read of these files: a longer manifest is invalid, and a lock file names its kind at the top. */
const largestManifest = 1_000_000;
const yarnHead = 4_096;

function foldersUp(folder: string, source: string): ProjectFolder[] {
  const seen = readProjectFolder(folder, relative(source, folder));
  return folder === source ? [seen] : [seen, ...foldersUp(dirname(folder), source)];
}

function readProjectFolder(folder: string, path: string): ProjectFolder {
  const bytes = readBelow(folder, 'package.json', largestManifest);
  return {
    path,
    files: new Set(readdirSync(folder)),
    packageManager: bytes && readManifest(bytes)?.packageManager,
    modernYarn: readBelow(folder, 'yarn.lock', yarnHead)?.includes('__metadata:') ?? false,
  };
}
