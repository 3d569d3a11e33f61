import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { changeOwner } from '../isolation/change-owner.ts';
import { registryOf } from './build-environment.ts';
import { removeOrReport } from './build-folder.ts';
import { stepFailed, succeeded, type StepResult } from './build.ts';
import type { RunningBuild } from './running-build.ts';
import {
  entryFolder,
  saveEntry,
  writeManifests,
  readEntry,
  type StoreEntry,
  placementProblem,
  placePackages,
  transferFolder,
} from './dependency-store.ts';
import { readBelow, statBelow } from '../../../agent-folder/packages/checkout-files.ts';
import { declaresWorkspaces, maxManifestSize } from '../../../agent-folder/packages/project-folders.ts';
import { describeFailure, type CommandEnd } from './run-command.ts';
import type { PackageManager } from '../../../agent-folder/packages/lock-files.ts';
import { collectInstallInputs, type ManifestFile } from './manifests.ts';
import { runInFolderQueue } from './folder-queue.ts';
import { createHash } from 'node:crypto';

interface RequestedInstall {
  name: string;
  command: string;
  args: readonly string[];
  /** The folder of the checkout to install; an absolute path. */
  folder: string;
}

interface LockedInstall extends RequestedInstall {
  manager: PackageManager;
  /** The folders of the checkout above `folder`: they may declare a workspace that includes it. */
  above: readonly string[];
}

/** Installs in the checkout itself, for this build alone. */
export async function installInPlace(
  requested: RequestedInstall,
  { run, giveSource }: RunningBuild,
): Promise<StepResult<'installed'>> {
  await giveSource();
  return toStepResult(
    requested,
    await run({ command: requested.command, args: requested.args, cwd: requested.folder }),
  );
}

function toStepResult({ name }: RequestedInstall, end: CommandEnd): StepResult<'installed'> {
  if (end.kind === 'done') return succeeded('installed');
  return stepFailed(end.kind === 'failed' ? describeFailure(name, end) : '');
}

/**
 * Installs through the dependency store: equal inputs are installed once, from lock file and manifests alone, and copied
 * into every build. An install that may depend on other files runs in the checkout, and the log says why.
 */
export async function installThroughStore(
  requested: LockedInstall,
  running: RunningBuild,
): Promise<StepResult<'installed'>> {
  const { log, user } = running.request;
  const { staging } = running.folder;
  const inputs = requested.above.some(mayDeclareWorkspaces)
    ? ({ kind: 'more', reason: 'a folder above it may declare workspaces' } as const)
    : await collectInstallInputs(requested.folder, requested.manager);
  if (inputs.kind === 'more') {
    log('info', `This install is not stored for later builds: ${inputs.reason}.`);
    return installInPlace(requested, running);
  }
  await mkdir(staging, { mode: 0o700 });
  await writeManifests(inputs.files, staging);
  if (user) await changeOwner(staging, user);
  const installed = await reuseOrInstall(requested, inputs.files, running);
  if (!installed.ok) return installed; // Its files are removed with the whole build, after the failure is reported.
  for (const folder of [staging, transferFolder(running)])
    await removeOrReport(folder, (message) => log('warning', message));
  return installed;
}

async function reuseOrInstall(requested: LockedInstall, files: readonly ManifestFile[], running: RunningBuild) {
  const { request, env, signal } = running;
  const { user, log } = request;
  const managerVersion = await readManagerVersion(requested, running);
  if (managerVersion === undefined) return signal.aborted ? stepFailed('') : installInPlace(requested, running);
  const key = storeKey({
    command: [requested.command, ...requested.args],
    managerVersion,
    nodeVersion: process.version,
    platform: `${process.platform}-${process.arch}-${existsSync('/etc/alpine-release') ? 'musl' : 'libc'}`,
    registry: registryOf(env),
    uid: user?.uid,
    files,
  });
  const entry = entryFolder(running.dataDir, request.tenantId, key);
  const placement = await runInFolderQueue(
    entry,
    signal,
    async (): Promise<StepResult<'installed'> | { reason: string }> => {
      const existingEntry = readEntry(entry);
      if (existingEntry) log('info', 'An earlier build installed these packages: reusing them.');
      const installed = existingEntry ? succeeded(existingEntry) : await installIntoStore(requested, entry, running);
      if (!installed.ok) return installed;
      const { folders, files: count, bytes } = installed.value;
      const reason = placementProblem(folders, requested.folder);
      if (reason !== undefined) return { reason };
      const end = await placePackages(entry, folders, requested.folder, running);
      if (end.kind !== 'done') return toStepResult({ ...requested, name: 'Copying the packages' }, end);
      log('info', `Put ${count} files of packages in place (${Math.ceil(bytes / 1_000_000)} MB).`);
      return succeeded('installed');
    },
  );
  if (placement === undefined) return stepFailed('');
  if ('ok' in placement) return placement;
  log('info', `The stored packages can't be copied into this source: ${placement.reason}. Installing there instead.`);
  return installInPlace(requested, running);
}

async function installIntoStore(
  requested: LockedInstall,
  entry: string,
  { request, folder: { staging }, run, readAsUser }: RunningBuild,
): Promise<StepResult<StoreEntry>> {
  const end = await run({ command: requested.command, args: requested.args, cwd: staging });
  const installed = toStepResult(requested, end);
  return installed.ok ? saveEntry(staging, entry, request.user && readAsUser) : installed;
}

async function readManagerVersion(
  { manager }: LockedInstall,
  { folder, run }: RunningBuild,
): Promise<string | undefined> {
  const end = await run({ command: manager, args: ['--version'], cwd: folder.staging, silent: true });
  return end.kind === 'done' ? end.output.at(-1) : undefined;
}

/** Whether a folder may declare a workspace: package managers look for one in all parent folders. */
const mayDeclareWorkspaces = (folder: string): boolean =>
  statBelow(folder, 'pnpm-workspace.yaml') !== undefined ||
  statBelow(folder, 'package.json')?.isSymbolicLink() === true ||
  declaresWorkspaces(readBelow(folder, 'package.json', maxManifestSize) ?? '');

export interface StoreKeyInputs {
  command: readonly string[];
  managerVersion: string;
  /** `process.version` of the Node.js that runs install scripts. */
  nodeVersion: string;
  /** The target of compiled code: `linux-x64-glibc`. */
  platform: string;
  /** The variables that choose the registry and its credentials. */
  registry: Readonly<Record<string, string>>;
  /** The user that installs: users never share entries. */
  uid: number | undefined;
  files: readonly ManifestFile[];
}

/** Increase it to invalidate all existing entries. */
const keyFormat = 1;

/** The name of a store entry: equal only where every input is equal. */
export function storeKey(facts: StoreKeyInputs): string {
  const { command, managerVersion, nodeVersion, platform, registry, uid, files } = facts;
  const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
  const byName = ([one]: [string, string], [other]: [string, string]): number => (one < other ? -1 : 1);
  const fileHashes = files.map(({ path, bytes }): [string, string] => [path, sha256(bytes)]).toSorted(byName);
  const settings = Object.entries(registry).toSorted(byName);
  return sha256(
    JSON.stringify([keyFormat, command, managerVersion, nodeVersion, platform, settings, uid ?? null, fileHashes]),
  );
}
