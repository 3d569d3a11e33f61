import { join } from 'node:path';
import {
  planInstall,
  unlockedWarning,
  type InstallPlan,
  type ProjectFolder,
} from '../../../agent-folder/packages/install-plan.ts';
import { lockFiles, modernYarnSettings, type PackageManager } from '../../../agent-folder/packages/lock-files.ts';
import { declaredVersion, pinnedVersion } from '../../../agent-folder/packages/manager-version.ts';
import { stepFailed, succeeded, type StepResult } from './build.ts';
import type { RunningBuild } from './running-build.ts';
import { readBelow } from '../../../agent-folder/packages/checkout-files.ts';
import { findTool } from './find-tool.ts';
import { keepGeneratedLock, restoreGeneratedLock } from './generated-lock.ts';
import { providePackageManager } from './package-manager.ts';
import {
  maxManifestSize,
  lockedEngineProblem,
  lockStart,
  projectFolders,
  readProjectFolder,
} from '../../../agent-folder/packages/project-folders.ts';
import { installInPlace, installThroughStore } from './stored-install.ts';

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

/** Installs the packages of a checkout, the real path `source`, as `planInstall` decides. */
export async function install(
  source: string,
  configFolder: string,
  running: RunningBuild,
): Promise<StepResult<'installed'>> {
  const { installCommand, buildCommand, log } = running.request;
  const folders = projectFolders(configFolder, source);
  const plan = withGeneratedLock(planInstall(installCommand, folders), source, running);
  const commands = [installCommand, buildCommand].filter((each) => each !== undefined);
  for (const manager of managersIn(commands)) {
    const provided = await provideManager(manager, folders, source, running);
    if (!provided.ok && running.signal.aborted) return provided;
    if (!provided.ok) log('warning', provided.reason);
  }
  if (plan.kind === 'manager') return installBy(plan, folders, source, running);
  if (plan.kind === 'nothing') {
    log('info', plan.reason);
    return succeeded('installed');
  }
  log('info', `Installing: ${plan.command}`);
  const name = 'source_config.install_command';
  const requested = { name, command: '/bin/sh', args: ['-c', plan.command], folder: source };
  const manager = managerOf(plan.command);
  const top = folders.at(-1);
  return manager !== undefined && top && isLockedFor(manager, top.entries) && findTool(manager, running.env.PATH ?? '')
    ? installThroughStore({ ...requested, manager, above: [] }, running)
    : installInPlace(requested, running);
}

type ManagerPlan = Extract<InstallPlan, { kind: 'manager' }>;

async function installBy(
  { manager, args, folder: path, reason, lockFile }: ManagerPlan,
  folders: readonly ProjectFolder[],
  source: string,
  running: RunningBuild,
): Promise<StepResult<'installed'>> {
  const { log, revisionId } = running.request;
  const folder = join(source, path);
  const tooOld = lockedEngineProblem({ manager, folder: path, lockFile }, source);
  if (tooOld) return stepFailed(`${tooOld.file}: ${tooOld.message}`);
  const provided = await provideManager(manager, folders, source, running);
  if (!provided.ok) return running.signal.aborted ? provided : stepFailed(`${reason}. ${provided.reason}`);
  if (manager === 'yarn') running.provide(yarnSettings(folder));
  const command = [manager, ...args].join(' ');
  log('info', `Installing: ${command} (${reason})`);
  const requested = { name: command, command: manager, args, folder };
  if (lockFile !== undefined) {
    const above = folders.filter((each) => isAbove(each.path, path)).map((each) => join(source, each.path));
    return installThroughStore({ ...requested, manager, above }, running);
  }
  running.warn(unlockedWarning(reason));
  const installed = await installInPlace(requested, running);
  if (installed.ok) keepGeneratedLock(manager, folder, running.dataDir, revisionId);
  return installed;
}

/** Applies the lock file that an earlier install of this build generated, so that a repeated build gets equal packages. */
function withGeneratedLock(plan: InstallPlan, source: string, { dataDir, request }: RunningBuild): InstallPlan {
  if (plan.kind !== 'manager' || plan.lockFile !== undefined) return plan;
  const name = restoreGeneratedLock(join(source, plan.folder), dataDir, request.revisionId);
  if (name === undefined) return plan;
  const folder = readProjectFolder(join(source, plan.folder), plan.folder);
  const lockedPlan = planInstall(undefined, [folder]);
  return lockedPlan.kind === 'manager'
    ? { ...lockedPlan, reason: `${name} of the first build selects ${lockedPlan.manager}` }
    : plan;
}

/** Provides a package manager in the version that the agent names, else in one that reads its lock file. */
function provideManager(
  manager: PackageManager,
  folders: readonly ProjectFolder[],
  source: string,
  running: RunningBuild,
): Promise<StepResult<unknown>> {
  const declarations = folders.map(({ packageManager }) => packageManager).filter((each) => each !== undefined);
  const declared = declarations.map((each) => declaredVersion(manager, each)).find((each) => each !== undefined);
  const files = lockFiles.filter(([, each]) => each === manager).map(([file]) => file);
  const locked = folders.find((each) => files.some((file) => each.entries.has(file)));
  const lockHead = locked && files.map((file) => readBelow(join(source, locked.path), file, lockStart)).find(Boolean);
  const isModernYarnProject = folders.some(({ entries: here }) => here.has(modernYarnSettings));
  const packageManager = declarations.find((each) => each.startsWith(`${manager}@`));
  const version =
    declared ?? pinnedVersion(manager, { lockHead: lockHead?.toString(), packageManager, isModernYarnProject });
  return providePackageManager(version, declared !== undefined, running);
}

/** The package managers besides npm that commands start. */
const managersIn = (commands: readonly string[]): PackageManager[] =>
  (['yarn', 'pnpm', 'bun'] as const).filter((name) =>
    commands.some((command) => new RegExp(`(?:^|[\\s;&|(])${name}(?=\\s|$)`).test(command)),
  );

/** Stops newer Yarn from sending telemetry, and from linking packages in a way that Node.js alone can't resolve. */
function yarnSettings(folder: string): Record<string, string> {
  const settings = readBelow(folder, '.yarnrc.yml', maxManifestSize)?.toString() ?? '';
  return {
    YARN_ENABLE_TELEMETRY: '0',
    ...(/^nodeLinker:/m.test(settings) ? {} : { YARN_NODE_LINKER: 'node-modules' }),
  };
}

const isAbove = (path: string, other: string): boolean =>
  path !== other && (path === '' || other.startsWith(`${path}/`));
