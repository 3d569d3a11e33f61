import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { ProcessUser } from '../compute/leashed-process.ts';
import { handOver } from '../isolation/hand-over.ts';
import type { WriteLine } from '../compute/log-line.ts';
import { removeOrReport } from './build-folder.ts';
import { cannot, made, type Part } from './build.ts';
import { entryFolder, keepEntry, keepEntryOf, layOut, readEntry } from './dependency-store.ts';
import type { StoreEntry } from './dependency-store.ts';
import { readBelow, statBelow } from './checkout-files.ts';
import { failure } from './failure.ts';
import type { PackageManager } from './install-plan.ts';
import { collectManifests, type Manifest } from './manifests.ts';
import { placementProblem, placePackages } from './place-packages.ts';
import type { CommandEnd, RunCommand } from './run-command.ts';
import { storeKey } from './store-key.ts';
import type { TarProcess } from './take-tree.ts';
import { inTurn } from './turns.ts';

export interface StoredInstallSettings {
  dataDir: string;
  tenantId: string;
  /** Whose the build is, where it is not this service's own. */
  user: ProcessUser | undefined;
  /** An absolute path where nothing is, in a folder of the service's: there is installed what is to be kept. */
  stage: string;
  /** Where packages come from, as the build's environment says. */
  registry: Readonly<Record<string, string>>;
  /** Gives the checkout to the build's user, before anything runs in it. */
  giveSource: () => Promise<void>;
  /** Starts what writes a folder as a tar to its standard output, as the build's user. */
  readAsUser: (folder: string) => TarProcess;
  run: RunCommand;
  log: WriteLine;
  signal: AbortSignal;
}

/** An install as it is decided. */
export interface AskedInstall {
  /** What it is called where it fails. */
  name: string;
  command: string;
  args: readonly string[];
  /** The folder of the checkout that is installed; an absolute path. */
  folder: string;
}

/** An install that a package manager does by a lock file. */
export interface LockedInstall extends AskedInstall {
  manager: PackageManager;
  /** The folders of the checkout above `folder`: a workspace that is declared there would take part. */
  above: readonly string[];
}

/** Installs in the checkout itself, for this build alone. */
export async function installInPlace(
  asked: AskedInstall,
  { run, giveSource }: StoredInstallSettings,
): Promise<Part<'installed'>> {
  await giveSource();
  return partOf(asked, await run({ command: asked.command, args: asked.args, cwd: asked.folder }));
}

function partOf({ name }: AskedInstall, end: CommandEnd): Part<'installed'> {
  if (end.kind === 'done') return made('installed');
  return cannot(end.kind === 'failed' ? failure(name, end) : '');
}

/**
 * Installs by way of the store. What is equal in all that decides an install is installed once, with nothing but lock
 * file and manifests at hand, and copied into every build that asks for it. Where the install may depend on more it is
 * done in the checkout, and the log says why. Of several builds that ask for the same at once one installs, and the
 * others wait for it; an install that fails is kept nowhere.
 */
export async function installThroughStore(
  asked: LockedInstall,
  settings: StoredInstallSettings,
): Promise<Part<'installed'>> {
  const { log, stage, user } = settings;
  const found = isPartOfMore(asked) ?? collectManifests(asked.folder, asked.manager);
  if (found.kind === 'more') {
    log('info', `Nothing is kept of this install for later builds: ${found.why}.`);
    return installInPlace(asked, settings);
  }
  try {
    await mkdir(stage, { mode: 0o700 });
    await layOut(found.files, stage);
    if (user) await handOver(stage, user);
    return await takeOrInstall(asked, found.files, settings);
  } finally {
    for (const folder of [stage, asideOf(stage)]) await removeOrReport(folder, (message) => log('warning', message));
  }
}

/** Where packages are copied to before they are moved into the checkout. */
const asideOf = (stage: string): string => `${stage}.packages`;

async function takeOrInstall(
  asked: LockedInstall,
  files: readonly Manifest[],
  settings: StoredInstallSettings,
): Promise<Part<'installed'>> {
  const { dataDir, tenantId, stage, user, registry, log, signal } = settings;
  const managerVersion = await versionOf(asked, settings);
  if (managerVersion === undefined) return signal.aborted ? cannot('') : installInPlace(asked, settings);
  const key = storeKey({
    command: [asked.command, ...asked.args],
    managerVersion,
    nodeVersion: process.version,
    platform: `${process.platform}-${process.arch}-${existsSync('/etc/alpine-release') ? 'musl' : 'libc'}`,
    registry,
    uid: user?.uid,
    files,
  });
  const entry = entryFolder(dataDir, tenantId, key);
  const placed = await inTurn(entry, signal, async (): Promise<Part<'installed'> | { why: string }> => {
    const there = readEntry(entry);
    if (there) log('info', 'These very packages were installed for an earlier build: they are taken from there.');
    const installed = there ? made(there) : await installIntoStore(asked, entry, settings);
    if (!installed.ok) return installed;
    const { folders, files: count, bytes } = installed.value;
    const why = placementProblem(folders, asked.folder);
    if (why !== undefined) return { why };
    const end = await placePackages(entry, folders, { ...settings, into: asked.folder, aside: asideOf(stage) });
    if (end.kind !== 'done') return partOf({ ...asked, name: 'Copying the packages' }, end);
    log('info', `Put ${count} files of packages in place (${Math.ceil(bytes / 1_000_000)} MB).`);
    return made('installed');
  });
  if (placed === undefined) return cannot('');
  if ('ok' in placed) return placed;
  log('info', `What was installed can't be copied into this source: ${placed.why}. It is installed there instead.`);
  return installInPlace(asked, settings);
}

async function installIntoStore(
  asked: LockedInstall,
  entry: string,
  { stage, user, run, readAsUser }: StoredInstallSettings,
): Promise<Part<StoreEntry>> {
  const end = await run({ command: asked.command, args: asked.args, cwd: stage });
  const installed = partOf(asked, end);
  if (!installed.ok) return installed;
  return user ? keepEntryOf(stage, entry, () => readAsUser(stage)) : made(await keepEntry(stage, entry));
}

/** The package manager's version; undefined when it tells none. */
async function versionOf(
  { manager }: LockedInstall,
  { stage, run }: StoredInstallSettings,
): Promise<string | undefined> {
  const end = await run({ command: manager, args: ['--version'], cwd: stage, silent: true });
  return end.kind === 'done' ? end.output.at(-1) : undefined;
}

const largestManifest = 1_000_000;

/** Package managers look upwards for a workspace that the folder may be a part of. */
function isPartOfMore({ above }: LockedInstall): { kind: 'more'; why: string } | undefined {
  const isWorkspace = above.some(
    (folder) =>
      statBelow(folder, 'pnpm-workspace.yaml') ||
      statBelow(folder, 'package.json')?.isSymbolicLink() ||
      /"workspaces"\s*:/.test(readBelow(folder, 'package.json', largestManifest)?.toString() ?? ''),
  );
  return isWorkspace ? { kind: 'more', why: 'a folder above it may declare workspaces' } : undefined;
}
