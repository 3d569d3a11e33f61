import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { ProcessUser } from '../compute/guarded-process.ts';
import { changeOwner } from '../isolation/change-owner.ts';
import type { WriteLine } from '../compute/log-line.ts';
import { removeOrReport } from './build-folder.ts';
import { stepFailed, succeeded, type StepResult } from './build.ts';
import {
  entryFolder,
  keepEntry,
  keepEntryOf,
  layOut,
  readEntry,
  type StoreEntry,
  placementProblem,
  placePackages,
} from './dependency-store.ts';
import { readBelow, statBelow } from './checkout-files.ts';
import { failure, type CommandEnd, type RunCommand } from './run-command.ts';
import type { PackageManager } from './install.ts';
import { collectManifests, type Manifest } from './manifests.ts';
import type { TarProcess } from './take-tree.ts';
import { inFolderQueue } from './folder-queue.ts';
import { createHash } from 'node:crypto';

export interface StoredInstallSettings {
  dataDir: string;
  tenantId: string;
  /** The build's user, where it is not this service's own. */
  user: ProcessUser | undefined;
  /** An unused absolute path in a folder of the service's: the place of the install. */
  staging: string;
  /** The registry settings of the build's environment. */
  registry: Readonly<Record<string, string>>;
  /** Changes the checkout's owner to the build's user, before anything runs in it. */
  giveSource: () => Promise<void>;
  /** Starts a process of the build's user that writes a folder as a tar to its standard output. */
  readAsUser: (folder: string) => TarProcess;
  run: RunCommand;
  log: WriteLine;
  signal: AbortSignal;
}

export interface RequestedInstall {
  name: string;
  command: string;
  args: readonly string[];
  /** The folder of the checkout to install; an absolute path. */
  folder: string;
}

/** An install by a package manager with a lock file. */
export interface LockedInstall extends RequestedInstall {
  manager: PackageManager;
  /** The folders of the checkout above `folder`: they may declare a workspace that includes it. */
  above: readonly string[];
}

/** Installs in the checkout itself, for this build alone. */
export async function installInPlace(
  requested: RequestedInstall,
  { run, giveSource }: StoredInstallSettings,
): Promise<StepResult<'installed'>> {
  await giveSource();
  return partOf(requested, await run({ command: requested.command, args: requested.args, cwd: requested.folder }));
}

function partOf({ name }: RequestedInstall, end: CommandEnd): StepResult<'installed'> {
  if (end.kind === 'done') return succeeded('installed');
  return stepFailed(end.kind === 'failed' ? failure(name, end) : '');
}

/**
 * Installs through the dependency store. Equal inputs are installed once, from lock file and manifests alone, and copied
 * into every build that needs them. Where the install may depend on more it runs in the checkout, and the log says why.
 * Of concurrent builds with equal inputs one installs and the others wait; a failed install is not stored.
 */
export async function installThroughStore(
  requested: LockedInstall,
  settings: StoredInstallSettings,
): Promise<StepResult<'installed'>> {
  const { log, staging, user } = settings;
  const found = isPartOfMore(requested) ?? (await collectManifests(requested.folder, requested.manager));
  if (found.kind === 'more') {
    log('info', `This install is not stored for later builds: ${found.why}.`);
    return installInPlace(requested, settings);
  }
  try {
    await mkdir(staging, { mode: 0o700 });
    await layOut(found.files, staging);
    if (user) await changeOwner(staging, user);
    return await takeOrInstall(requested, found.files, settings);
  } finally {
    for (const folder of [staging, asideOf(staging)])
      await removeOrReport(folder, (message) => log('warning', message));
  }
}

/** Where packages are copied to before they are moved into the checkout. */
const asideOf = (staging: string): string => `${staging}.packages`;

async function takeOrInstall(
  requested: LockedInstall,
  files: readonly Manifest[],
  settings: StoredInstallSettings,
): Promise<StepResult<'installed'>> {
  const { dataDir, tenantId, staging, user, registry, log, signal } = settings;
  const managerVersion = await versionOf(requested, settings);
  if (managerVersion === undefined) return signal.aborted ? stepFailed('') : installInPlace(requested, settings);
  const key = storeKey({
    command: [requested.command, ...requested.args],
    managerVersion,
    nodeVersion: process.version,
    platform: `${process.platform}-${process.arch}-${existsSync('/etc/alpine-release') ? 'musl' : 'libc'}`,
    registry,
    uid: user?.uid,
    files,
  });
  const entry = entryFolder(dataDir, tenantId, key);
  const placed = await inFolderQueue(entry, signal, async (): Promise<StepResult<'installed'> | { why: string }> => {
    const there = readEntry(entry);
    if (there) log('info', 'An earlier build installed these packages: reusing them.');
    const installed = there ? succeeded(there) : await installIntoStore(requested, entry, settings);
    if (!installed.ok) return installed;
    const { folders, files: count, bytes } = installed.value;
    const why = placementProblem(folders, requested.folder);
    if (why !== undefined) return { why };
    const end = await placePackages(entry, folders, { ...settings, into: requested.folder, aside: asideOf(staging) });
    if (end.kind !== 'done') return partOf({ ...requested, name: 'Copying the packages' }, end);
    log('info', `Put ${count} files of packages in place (${Math.ceil(bytes / 1_000_000)} MB).`);
    return succeeded('installed');
  });
  if (placed === undefined) return stepFailed('');
  if ('ok' in placed) return placed;
  log('info', `The stored packages can't be copied into this source: ${placed.why}. Installing there instead.`);
  return installInPlace(requested, settings);
}

async function installIntoStore(
  requested: LockedInstall,
  entry: string,
  { staging, user, run, readAsUser }: StoredInstallSettings,
): Promise<StepResult<StoreEntry>> {
  const end = await run({ command: requested.command, args: requested.args, cwd: staging });
  const installed = partOf(requested, end);
  if (!installed.ok) return installed;
  return user ? keepEntryOf(staging, entry, () => readAsUser(staging)) : succeeded(await keepEntry(staging, entry));
}

/** The package manager's version; undefined when it prints none. */
async function versionOf(
  { manager }: LockedInstall,
  { staging, run }: StoredInstallSettings,
): Promise<string | undefined> {
  const end = await run({ command: manager, args: ['--version'], cwd: staging, silent: true });
  return end.kind === 'done' ? end.output.at(-1) : undefined;
}

const largestManifest = 1_000_000;

/** Why the folder may be part of a workspace, which package managers look for upwards. */
function isPartOfMore({ above }: LockedInstall): { kind: 'more'; why: string } | undefined {
  const isWorkspace = above.some(
    (folder) =>
      statBelow(folder, 'pnpm-workspace.yaml') ||
      statBelow(folder, 'package.json')?.isSymbolicLink() ||
      /"workspaces"\s*:/.test(readBelow(folder, 'package.json', largestManifest)?.toString() ?? ''),
  );
  return isWorkspace ? { kind: 'more', why: 'a folder above it may declare workspaces' } : undefined;
}

export interface InstallFacts {
  command: readonly string[];
  managerVersion: string;
  /** `process.version` of the Node.js that runs install scripts. */
  nodeVersion: string;
  /** The target of compiled code: `linux-x64-glibc`. */
  platform: string;
  /** The variables that decide where packages come from, and with which credentials. */
  registry: Readonly<Record<string, string>>;
  /** The user that installs: entries that one user's processes wrote are never given to another. */
  uid: number | undefined;
  files: readonly Manifest[];
}

/** Increase it to invalidate all existing entries. */
const format = 1;

/** The name of a store entry: equal only where every input is equal. */
export function storeKey(facts: InstallFacts): string {
  const { command, managerVersion, nodeVersion, platform, registry, uid, files } = facts;
  const sorted = files
    .map(({ path, bytes }) => [path, createHash('sha256').update(bytes).digest('hex')] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const settings = Object.entries(registry).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const all = [format, command, managerVersion, nodeVersion, platform, settings, uid ?? null, sorted];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}
