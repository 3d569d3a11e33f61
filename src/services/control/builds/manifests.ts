import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as z from 'zod';
import { fromJson, holdsMore } from '../../../kit/json-text.ts';
import { readBelow, statBelow } from '../../../agent-folder/packages/checkout-files.ts';
import type { PackageManager } from '../../../agent-folder/packages/lock-files.ts';
import { maxManifestValues } from '../../../agent-folder/packages/project-folders.ts';

export interface ManifestFile {
  path: string;
  bytes: Buffer;
}

/** The files that decide an install. `more`: the reason why it may read other files, so that no build can share it. */
export type InstallInputs = { kind: 'whole'; files: ManifestFile[] } | { kind: 'more'; reason: string };

/** The files in the top folder that package managers read. */
const topLevelFiles = new Set([
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  '.pnpmfile.cjs',
  'yarn.lock',
  '.yarnrc',
  '.yarnrc.yml',
  'bun.lock',
  'bun.lockb',
  'bunfig.toml',
  '.npmrc',
]);

/** The folders of Yarn's own program, plugins and patches in the repository. */
const yarnFolders = ['releases', 'plugins', 'patches'];

/** The most folders and bytes to search for manifests; the packages of a larger repository are not shared. */
const maxFolders = 2_000;
const maxBytes = 64_000_000;

/** The scripts of a package that its own install runs: they may read anything in the repository. */
const ownScripts = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
  'dependencies',
] as const;

const texts = z.record(z.string(), z.unknown()).optional().catch(undefined);
const manifest = z.object({
  scripts: texts,
  bin: z.unknown().optional(),
  dependencies: texts,
  devDependencies: texts,
  optionalDependencies: texts,
  peerDependencies: texts,
  resolutions: texts,
  overrides: texts,
  patchedDependencies: z.unknown().optional(),
  pnpm: z.object({ patchedDependencies: z.unknown().optional(), overrides: texts }).optional().catch(undefined),
});

/**
 * Collects the files that decide an install, or the reason why it may read more: scripts, packages inside the
 * repository, patches. Yields to the event loop between files, because there may be many.
 */
export async function collectInstallInputs(folder: string, manager: PackageManager): Promise<InstallInputs> {
  try {
    const read = createReader(folder);
    const top = readdirSync(folder).filter((name) => topLevelFiles.has(name));
    const files = [...top.map(read), ...filesOfYarn(folder, read)];
    const own = files.find(({ path }) => path === 'package.json');
    if (!own) return { kind: 'more', reason: 'there is no package.json beside the lock file' };
    const hasWorkspaces = top.includes('pnpm-workspace.yaml') || /"workspaces"\s*:/.test(own.bytes.toString());
    if (hasWorkspaces) files.push(...(await workspaceFiles(folder, read)));
    const reason = (await findFirstReason(folder, files)) ?? linkerProblem(files, manager);
    return reason === undefined ? { kind: 'whole', files } : { kind: 'more', reason: reason };
  } catch (error) {
    if (error instanceof NotStorableError) return { kind: 'more', reason: error.message };
    throw error;
  }
}

class NotStorableError extends Error {}

type ReadFile = (path: string) => ManifestFile;

/** Creates the reader of a folder's manifests, with a limit on their total size. */
function createReader(folder: string): ReadFile {
  let remainingBytes = maxBytes;
  return (path) => {
    const bytes = readBelow(folder, path, remainingBytes + 1);
    if (!bytes) throw new NotStorableError(`${path} is not a plain file`);
    if (bytes.length > remainingBytes) throw new NotStorableError('its lock file and manifests are very large');
    remainingBytes -= bytes.length;
    return { path, bytes };
  };
}

function filesOfYarn(folder: string, read: ReadFile): ManifestFile[] {
  if (statBelow(folder, '.yarn')?.isSymbolicLink()) throw new NotStorableError('.yarn is a link');
  return yarnFolders.flatMap((name) => {
    const path = `.yarn/${name}`;
    const stat = statBelow(folder, path);
    if (stat?.isSymbolicLink()) throw new NotStorableError(`${path} is a link`);
    return stat?.isDirectory() ? allFiles(folder, path, read) : [];
  });
}

function allFiles(folder: string, path: string, read: ReadFile): ManifestFile[] {
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
    const below = `${path}/${entry.name}`;
    return entry.isDirectory() ? allFiles(folder, below, read) : [read(below)];
  });
}

/** The manifests in the folders below, which may be workspaces. Links are not followed. */
async function workspaceFiles(folder: string, read: ReadFile): Promise<ManifestFile[]> {
  const found: ManifestFile[] = [];
  const pending: string[] = foldersIn(folder, '');
  for (let seen = 0; pending.length > 0; seen += 1) {
    if (seen > maxFolders) throw new NotStorableError(`the repository has more than ${maxFolders} folders`);
    await nextTurn();
    const path = pending.pop() ?? '';
    for (const name of ['package.json', '.npmrc', 'binding.gyp']) {
      const file = `${path}/${name}`;
      if (statBelow(folder, file)) found.push(read(file));
    }
    pending.push(...foldersIn(folder, path));
  }
  return found;
}

const foldersIn = (folder: string, path: string): string[] =>
  readdirSync(join(folder, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && entry.name !== '.git')
    .map((entry) => (path === '' ? entry.name : `${path}/${entry.name}`));

async function findFirstReason(folder: string, files: readonly ManifestFile[]): Promise<string | undefined> {
  for (const file of files) {
    const why = reasonNotStorable(folder, file);
    if (why !== undefined) return why;
    await nextTurn();
  }
  return undefined;
}

function reasonNotStorable(folder: string, { path, bytes }: ManifestFile): string | undefined {
  if (path === 'package.json' && statBelow(folder, 'binding.gyp')) return 'binding.gyp is compiled at the install';
  if (path.endsWith('binding.gyp')) return `${path} is compiled at the install`;
  if (path === 'pnpm-workspace.yaml' && bytes.includes('patchedDependencies')) return `${path} names patches`;
  if (!path.endsWith('package.json')) return undefined;
  const read = readManifest(bytes);
  if (!read) return `${path} can't be read`;
  const script = ownScripts.find((name) => read.scripts?.[name] !== undefined);
  if (script !== undefined) return `the script "${script}" of ${path} may read the whole repository`;
  if (path !== 'package.json' && read.bin !== undefined) return `${path} has programs of its own`;
  if (read.patchedDependencies !== undefined || read.pnpm?.patchedDependencies !== undefined) {
    return `${path} names patches`;
  }
  const { dependencies, devDependencies, optionalDependencies, peerDependencies, resolutions, overrides } = read;
  const dependencyLists = [
    dependencies,
    devDependencies,
    optionalDependencies,
    peerDependencies,
    resolutions,
    overrides,
  ];
  const local = [...dependencyLists, read.pnpm?.overrides].flatMap((each) => Object.entries(each ?? {})).find(isLocal);
  return local === undefined ? undefined : `${path} takes ${local[0]} from the repository itself`;
}

/** Whether a dependency is a file or folder of the repository, in any syntax, or patched by one. */
const isLocal = ([, requested]: [string, unknown]): boolean =>
  /(^|[@#:"])(file:|link:|portal:|patch:|exec:|\.{1,2}\/|~\/|\/)/.test(
    typeof requested === 'string'
      ? requested.replace(/^(https?|git\+\w+|git|ssh):\/\//, '')
      : JSON.stringify(requested),
  );

/** Parses a package.json. Undefined for an invalid file: the package manager will report the problem better. */
function readManifest(bytes: Buffer): z.infer<typeof manifest> | undefined {
  const text = bytes.toString();
  return holdsMore(text, maxManifestValues) ? undefined : manifest.safeParse(fromJson(text)).data;
}

/** Why there are no package folders to store: by default, Yarn 2 and newer don't create any. */
function linkerProblem(files: readonly ManifestFile[], manager: PackageManager): string | undefined {
  if (manager !== 'yarn') return undefined;
  const isModern = files.some(({ path, bytes }) => path === 'yarn.lock' && bytes.includes('__metadata:'));
  const settings = files.find(({ path }) => path === '.yarnrc.yml')?.bytes.toString() ?? '';
  return isModern && !/^nodeLinker:\s*["']?node-modules/m.test(settings)
    ? 'Yarn does not create package folders (set nodeLinker: node-modules in .yarnrc.yml)'
    : undefined;
}
