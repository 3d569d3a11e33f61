import { hasCode, messageOf, missingCodes } from '../../../kit/errors.ts';
import { pause, type Clock } from '../../../kit/clock.ts';
import { buildFolder, listBuilds, cleanUp, environmentsNeeded } from '../builds/build-folder.ts';
import { freeSpace, type FreeSpace } from '../builds/free-space.ts';
import type { HealthStore } from '../health/repository.ts';
import type { RetentionStore } from './repository.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { ages, recentUseMs, retentionIntervalMs, type Ages, expiredBuildsOfAll, onlyNeeded } from './expired-builds.ts';
import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { cachesFolder, storeFolder } from '../builds/dependency-store.ts';
import { mirrorsFolder } from '../builds/mirror.ts';
import { environmentsFolder } from '../builds/python/environment-store.ts';
import { removeTree } from '../builds/remove-tree.ts';
import { runInFolderQueue, isInUse } from '../builds/folder-queue.ts';
import type { Logger } from '../../../kit/logger.ts';

export interface RetentionDependencies {
  store: RetentionStore & Pick<HealthStore, 'mergeOldFigures' | 'deleteOldFigures'>;
  uploads: Pick<Uploads, 'removeOld'>;
  /** The parent of the folder `builds/`, also of mirrors, packages and downloads. */
  workDir: string;
  clock: Clock;
  /** Receives one line about what was removed. */
  log: Logger;
  /** Returns the free space of the disk; from the file system when absent. */
  freeSpace?: FreeSpace;
}

/** Creates the retention job. It does nothing before it is called. */
export function createRetention(settings: RetentionDependencies) {
  const { store, uploads, workDir, clock, log, freeSpace: free = freeSpace } = settings;
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const warn = (message: string): void => log.warn(message);

  async function removeBuilds(bounds: Ages['builds']): Promise<number> {
    const buildIds = listBuilds(workDir).map((id) => `builds/${id}`);
    const old = expiredBuildsOfAll(await store.revisionsOfBuilds(buildIds), clock.now(), bounds);
    for (const id of old) await cleanUp(buildFolder(workDir, id).root, warn);
    return old.length;
  }

  async function removeSharedFolders(kind: SharedKind, olderThan: number): Promise<number> {
    const now = clock.now();
    // A build can set any time on its folder: one far in the future, which would never expire, counts as old.
    const old = (await sharedFolders(kind, workDir, warn)).filter(({ usedAt }) => Math.abs(now - usedAt) >= olderThan);
    let removed = 0;
    for (const folder of old) if (await removeShared(folder, warn)) removed += 1;
    return removed;
  }

  /** A failure in one category does not stop the others. The compiler checks the record for completeness. */
  async function runAll(work: Record<keyof Ages, () => Promise<number>>): Promise<RemovedCounts> {
    const cleared: Record<string, number> = {};
    for (const [name, clear] of Object.entries(work)) {
      if (stopping.signal.aborted) break;
      await clear()
        .then((count) => (cleared[name] = count))
        .catch((error: unknown) => log.error(`Old ${name} could not be removed: ${messageOf(error)}`));
    }
    return cleared;
  }

  async function runOnce(): Promise<void> {
    const cleared = await runAll({
      builds: () => removeBuilds(ages.builds),
      mirrors: () => removeSharedFolders('mirrors', ages.mirrors.ms),
      packages: () => removeSharedFolders('packages', ages.packages.ms),
      downloads: () => removeSharedFolders('downloads', ages.downloads.ms),
      uploads: () => uploads.removeOld(ages.uploads.ms),
      logs: () => store.deleteOldLines(ages.logs.ms),
      sessions: async () => {
        await store.deleteExpiredAccess(ages.sessions.ms);
        return store.deleteIdleSessions(ages.sessions.ms);
      },
      health: async () => {
        await store.mergeOldFigures();
        return store.deleteOldFigures(ages.health.ms);
      },
      runs: () => store.deleteOldRuns(ages.runs.ms, ages.runs),
      changes: () => store.deleteOldChanges(ages.changes.ms),
    });
    const line = inOneLine(cleared);
    if (line !== undefined) log.info(`Removed by retention: ${line}.`);
  }

  /**
   * Removes unused data early, the least valuable first, until `wanted` bytes are free: downloads, packages, mirrors,
   * and at last builds of ended revisions. Never removes what live revisions need.
   */
  async function makeRoom(wanted: number): Promise<void> {
    const cleared: RemovedCounts = {};
    const isEnough = async (): Promise<boolean> => (await free(workDir)) >= wanted;
    for (const kind of sharedKinds) {
      if (await isEnough()) break;
      cleared[kind] = await removeSharedFolders(kind, recentUseMs);
    }
    if (!(await isEnough())) cleared.builds = await removeBuilds(onlyNeeded(ages.builds));
    const line = inOneLine(cleared);
    if (line !== undefined) log.warn(`The disk is nearly full; removed early: ${line}.`);
  }

  async function runHourly(): Promise<void> {
    while (!stopping.signal.aborted) {
      await runOnce();
      await pause(clock, retentionIntervalMs, stopping.signal);
    }
  }

  return {
    look: runOnce,
    makeRoom,
    /** Runs now, and every hour, in the background. */
    start(): void {
      running = runHourly();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}

type RemovedCounts = Partial<Record<keyof Ages, number>>;

const categoryNames: Record<keyof Ages, readonly [string, string]> = {
  builds: ['build', 'builds'],
  mirrors: ['mirror of a repository', 'mirrors of repositories'],
  packages: ['set of installed packages', 'sets of installed packages'],
  downloads: ['folder of downloads', 'folders of downloads'],
  uploads: ['uploaded tarball', 'uploaded tarballs'],
  logs: ['line of logs', 'lines of logs'],
  runs: ['run of a tracing project', 'runs of tracing projects'],
  sessions: ['session of a browser', 'sessions of browsers'],
  health: ['row of health figures', 'rows of health figures'],
  changes: ['entry of the audit log', 'entries of the audit log'],
};

/** Lists what was removed; undefined for nothing. */
export function inOneLine(cleared: RemovedCounts): string | undefined {
  const counts = new Map(Object.entries(cleared));
  const parts = Object.entries(categoryNames).flatMap(([name, [one, several]]) => {
    const count = counts.get(name) ?? 0;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
  });
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** A folder that builds share, with the time of its last use (ms since the epoch). */
interface SharedFolder {
  path: string;
  usedAt: number;
  /** The file in it whose time says when it was used; itself where this is absent. */
  dated?: string;
  /** The file in it that marks it as complete; absent in folders that belong to the user of builds. */
  marker?: string;
}

/** The kinds of shared folders, by the names of their retention times. */
const sharedKinds = ['downloads', 'packages', 'mirrors'] as const;
type SharedKind = (typeof sharedKinds)[number];

/** Receives one line per entry that could not be checked or removed; the other entries continue. */
type ReportFailure = (message: string) => void;

/** The folders of a kind; an incomplete entry of packages counts as never used. */
export async function sharedFolders(kind: SharedKind, workDir: string, report: ReportFailure): Promise<SharedFolder[]> {
  switch (kind) {
    case 'downloads':
      return withTimes(await below(cachesFolder(workDir), 1, report));
    case 'mirrors':
      return withTimes(await below(mirrorsFolder(workDir), 2, report), { marker: 'HEAD' });
    case 'packages':
      return withTimes(
        [...(await below(storeFolder(workDir), 2, report)), ...(await unneededEnvironments(workDir, report))],
        {
          marker: 'entry.json',
          dated: 'entry.json',
        },
      );
  }
}

/** The environments of Python that no build here runs in. */
async function unneededEnvironments(workDir: string, report: ReportFailure): Promise<string[]> {
  const all = environmentsFolder(workDir);
  const needed = environmentsNeeded(workDir);
  return (await below(all, 2, report)).filter((path) => !needed.has(relative(all, path)));
}

async function below(folder: string, depth: number, report: ReportFailure): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (!hasCode(error, ...missingCodes)) report(`${folder} could not be read: ${messageOf(error)}`);
    return [];
  });
  const paths = names.map((name) => join(folder, name));
  if (depth === 1) return paths;
  return (await Promise.all(paths.map((path) => below(path, depth - 1, report)))).flat();
}

async function withTimes(paths: readonly string[], files: Pick<SharedFolder, 'marker' | 'dated'> = {}) {
  return Promise.all(paths.map(async (path) => ({ path, ...files, usedAt: await timeOfUse({ path, ...files }) })));
}

/** Without a readable time of use, a folder counts as never used: no build needs such a folder. */
async function timeOfUse({ path, dated = '' }: Pick<SharedFolder, 'path' | 'dated'>): Promise<number> {
  return lstat(join(path, dated)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

/**
 * Removes such a folder unless a build uses it, or has since it was found to be old. Its marker goes first, so that
 * nothing half removed looks complete. @returns whether it is gone; a failure is reported.
 */
export async function removeShared(folder: SharedFolder, report: ReportFailure): Promise<boolean> {
  const { path, marker } = folder;
  if (isInUse(path)) return false;
  const removed = await runInFolderQueue(path, new AbortController().signal, async () => {
    // What builds may date by themselves says nothing here: it would never be removed.
    if (folder.dated !== undefined && (await timeOfUse(folder)) !== folder.usedAt) return false;
    if (marker !== undefined) await removeTree(join(path, marker));
    await removeTree(path);
    return true;
  }).catch((error: unknown) => report(`${path} could not be removed: ${messageOf(error)}`));
  return removed === true;
}
