import { createHash } from 'node:crypto';
import { constants, realpathSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, readlink, symlink, utimes, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { hasCode, missingCodes } from '../../../kit/errors.ts';
import { changeOwner } from '../isolation/change-owner.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import {
  describe,
  inodeOf,
  listBuildFiles,
  readBuildList,
  walkBuild,
  type BuildList,
  type ListedEntry,
} from './build-files.ts';
import {
  buildFolder,
  cleanUp,
  isWithin,
  readBuild,
  recordBuild,
  recreateBuildFolder,
  removeOrReport,
  type BuildFolder,
} from './build-folder.ts';
import type { Build, BuildRequest } from './build.ts';
import { runInFolderQueue } from './folder-queue.ts';
import { diskIsFull, isDiskFull } from './free-space.ts';
import { findSpaceProblem, type BuildDependencies } from './make-build.ts';
import { copyGeneratedLock } from './generated-lock.ts';

interface CopyRequest extends Pick<BuildRequest, 'revisionId' | 'log'> {
  /** The name of the build's folder. */
  from: string;
  /** The user who gets the copy; the service's own where absent. */
  user: ProcessUser | undefined;
}

/** How a copy ended. */
export type CopyEnd =
  /** `digest`: `sha256:<hex>` of its commit, its graph configuration's path and its files. */
  | { kind: 'copied'; build: Build; digest: string }
  /** It has to be built again. `why` goes on after "can't be copied:". */
  | { kind: 'not-copyable'; why: string }
  | { kind: 'failed'; reason: string }
  | { kind: 'interrupted' };

/**
 * Copies the build of another deployment's revision, as it was when it was made: agents of that deployment may have
 * written to it since, so every file is compared with the list of the build while it is copied, and files that are not
 * in the list stay behind. Without a complete copy no files are left.
 */
export async function copyBuild(
  request: CopyRequest,
  settings: BuildDependencies,
  signal: AbortSignal,
): Promise<CopyEnd> {
  const from = buildFolder(settings.dataDir, request.from);
  const end = await runInFolderQueue(from.root, signal, () => copyFrom(from, request, settings, signal));
  return end ?? { kind: 'interrupted' };
}

async function copyFrom(
  from: BuildFolder,
  { revisionId, log, user }: CopyRequest,
  settings: BuildDependencies,
  signal: AbortSignal,
): Promise<CopyEnd> {
  const { dataDir } = settings;
  const [build, list] = [readBuild(from.root), await readBuildList(from.root)];
  if (!build || !list) return { kind: 'not-copyable', why: 'it is no longer on this machine' };
  // A virtual environment of Python holds the address of its own folder.
  if (build.python) return { kind: 'not-copyable', why: 'it has packages of Python' };
  if (build.usesHome !== false) return { kind: 'not-copyable', why: 'it may need files in its home folder' };
  const spaceProblem = await findSpaceProblem(settings, sizeOf(list));
  if (spaceProblem !== undefined) return { kind: 'failed', reason: spaceProblem };
  const to = await recreateBuildFolder(dataDir, revisionId);
  const report = (message: string): void => log('warning', message);
  let isComplete = false;
  try {
    const copied = await copyFiles(from, to, list, signal);
    if (!('lines' in copied)) return copied;
    if (user) for (const path of [to.source, to.home]) await changeOwner(path, user);
    copyGeneratedLock(dataDir, basename(from.root), revisionId);
    await listBuildFiles(to);
    const graphConfigPath = relative(build.folder, build.graphConfigFile);
    const copy = { ...build, folder: to.root, graphConfigFile: join(to.root, graphConfigPath) };
    recordBuild(copy);
    isComplete = true;
    const contents = [JSON.stringify([build.from, graphConfigPath]), ...copied.lines.toSorted()];
    const digest = `sha256:${createHash('sha256').update(contents.join('\n')).digest('hex')}`;
    return { kind: 'copied', build: copy, digest };
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return { kind: 'failed', reason: diskIsFull };
  } finally {
    await (isComplete ? removeOrReport(to.temporary, report) : cleanUp(to.root, report));
  }
}

/** The size of all listed files in bytes; sparse ones count in full. */
const sizeOf = ({ entries }: BuildList): number =>
  entries
    .values()
    .map(({ description }) => Number(/^file \d+ (\d+) /.exec(description)?.[1] ?? 0))
    .reduce((sum, each) => sum + each, 0);

/** Copies the listed files; returns a line with the content of each. */
async function copyFiles(
  from: BuildFolder,
  to: BuildFolder,
  { entries, at }: BuildList,
  signal: AbortSignal,
): Promise<{ lines: string[] } | Extract<CopyEnd, { kind: 'not-copyable' | 'interrupted' }>> {
  const missing = new Map(entries);
  const lines: string[] = [];
  for await (const { path, file } of walkBuild(from.source)) {
    if (signal.aborted) return { kind: 'interrupted' };
    const listed = missing.get(path);
    if (listed === undefined) continue;
    const line = await copyEntry({ file, path, to: join(to.source, path), listed, listedAt: at, source: from.source });
    if (line === undefined) return changedSince(path);
    missing.delete(path);
    lines.push(JSON.stringify([path, ...line]));
  }
  const [gone] = missing.keys();
  return gone === undefined ? { lines } : changedSince(gone);
}

const changedSince = (path: string): Extract<CopyEnd, { kind: 'not-copyable' }> => ({
  kind: 'not-copyable',
  why: `${JSON.stringify(path)} has changed since the build, or leads out of its folder`,
});

interface Entry {
  file: string;
  to: string;
  /** The entry as it was listed, and when the list was written (ms since the epoch). */
  listed: ListedEntry;
  listedAt: number;
  /** The folder of the build that is copied, and the path of the entry in it. */
  source: string;
  path: string;
}

/** Copies an entry; returns what it is and holds, or undefined where it has changed since it was listed. */
async function copyEntry(entry: Entry): Promise<string[] | undefined> {
  return copyIfUnchanged(entry).catch((error: unknown) => {
    if (hasCode(error, ...missingCodes, 'ELOOP', 'ENXIO')) return undefined;
    throw error;
  });
}

async function copyIfUnchanged(entry: Entry): Promise<string[] | undefined> {
  const stat = await lstat(entry.file);
  if (!isUnchanged(stat, entry)) return undefined;
  if (stat.isDirectory()) {
    await mkdir(entry.to, { mode: (stat.mode & 0o777) | 0o700 });
    return ['folder'];
  }
  if (stat.isSymbolicLink()) {
    const target = await readlink(entry.file);
    if (!staysValid(target, entry)) return undefined;
    await symlink(target, entry.to);
    return ['link', target];
  }
  return stat.isFile() ? copyFile(entry) : undefined;
}

/** Whether a link leads to the same where it is copied: within the source, or outside of all builds. */
function staysValid(target: string, { source, path }: Entry): boolean {
  const folder = dirname(join(source, path));
  const builds = dirname(dirname(source));
  if (!isAbsolute(target)) return isWithin(source, resolve(folder, target));
  return ![builds, realpathSync(builds)].some((each) => isWithin(each, resolve(target)));
}

async function copyFile(entry: Entry): Promise<string[] | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using source = await open(entry.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const stat = await source.stat();
  if (!isUnchanged(stat, entry)) return undefined;
  await using target = await open(entry.to, 'wx', stat.mode & 0o777);
  const content = await copyContent(source, target, stat.size);
  if (!isUnchanged(await source.stat(), entry)) return undefined;
  await utimes(entry.to, stat.atime, stat.mtime);
  return ['file', (stat.mode & 0o700).toString(8), content];
}

/** Copies no more than `size` bytes: a file that grows meanwhile is noticed afterwards. */
async function copyContent(source: FileHandle, target: FileHandle, size: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source.createReadStream({ autoClose: false, start: 0, end: Math.max(0, size - 1) })) {
    const bytes = Buffer.from(chunk);
    hash.update(bytes);
    await target.appendFile(bytes);
  }
  return hash.digest('hex');
}

/**
 * Whether an entry is as it was listed. Size and time of the content can be forged by the owner of a file; that it is
 * the same inode, and the time of the inode's last change, can't. A folder's changes with every entry that is added, so
 * that time does not count.
 */
const isUnchanged = (stat: Stats, { listed, listedAt }: Entry): boolean =>
  describe(stat) === listed.description &&
  inodeOf(stat) === listed.inode &&
  (stat.isDirectory() || stat.ctimeMs <= listedAt);
