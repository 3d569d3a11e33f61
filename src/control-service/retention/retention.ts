import { messageOf } from '../../errors.ts';
import { pause, type Clock } from '../../clock.ts';
import { buildFolder, buildsThere, cleanUp } from '../builds/build-folder.ts';
import { freeSpace, type FreeSpace } from '../builds/free-space.ts';
import type { RetentionStore } from '../store/retention.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { ages, inUseMs, lookEveryMs, type Ages } from './ages.ts';
import { oldBuildsOfAll, withoutOthers } from './old-builds.ts';
import { keptFolders, keptKinds, removeKept, type KeptKind } from './unused-folders.ts';

export interface RetentionSettings {
  store: RetentionStore;
  uploads: Pick<Uploads, 'removeOld'>;
  /** The parent of the folder `builds/`, also of mirrors, packages and downloads. */
  workDir: string;
  clock: Clock;
  /** Receives one line about what was removed. */
  log: (message: string) => void;
  /** Returns the free space of the disk; from the file system when absent. */
  freeSpace?: FreeSpace;
}

/** Removes old data. */
export interface Retention {
  /** Runs now, and every hour, in the background. */
  start(): void;
  /** Runs once. */
  look(): Promise<void>;
  /**
   * Removes unused data early, the least valuable first, until `wanted` bytes are free: downloads, packages, mirrors, and
   * at last builds of ended revisions. Never removes what live revisions need.
   */
  makeRoom: (wanted: number) => Promise<void>;
  /** Stops. */
  stop: () => Promise<void>;
}

/** Creates the retention job. It does nothing before it is called. */
export function createRetention(settings: RetentionSettings): Retention {
  const { store, uploads, workDir, clock, log, freeSpace: free = freeSpace } = settings;
  const stopping = new AbortController();
  let looking: Promise<void> = Promise.resolve();

  async function clearBuilds(bounds: Ages['builds']): Promise<number> {
    const there = buildsThere(workDir).map((id) => `builds/${id}`);
    const old = oldBuildsOfAll(await store.revisionsOfBuilds(there), clock.now(), bounds);
    for (const id of old) await cleanUp(buildFolder(workDir, id).root, log);
    return old.length;
  }

  async function clearKept(kind: KeptKind, olderThan: number): Promise<number> {
    const now = clock.now();
    // A build can set any time on its folder: one far in the future, which would never expire, counts as old.
    const old = (await keptFolders(kind, workDir, log)).filter(({ usedAt }) => Math.abs(now - usedAt) >= olderThan);
    let removed = 0;
    for (const folder of old) if (await removeKept(folder, log)) removed += 1;
    return removed;
  }

  /**
   * A failure in one category does not stop the others. Iterates over the record itself, which the compiler checks for
   * completeness.
   */
  async function each(work: Record<keyof Ages, () => Promise<number>>): Promise<Cleared> {
    const cleared: Record<string, number> = {};
    for (const [name, clear] of Object.entries(work)) {
      if (stopping.signal.aborted) break;
      await clear()
        .then((count) => (cleared[name] = count))
        .catch((error: unknown) => log(`Old ${name} could not be removed: ${messageOf(error)}`));
    }
    return cleared;
  }

  async function look(): Promise<void> {
    const cleared = await each({
      builds: () => clearBuilds(ages.builds),
      mirrors: () => clearKept('mirrors', ages.mirrors.ms),
      packages: () => clearKept('packages', ages.packages.ms),
      downloads: () => clearKept('downloads', ages.downloads.ms),
      uploads: () => uploads.removeOld(ages.uploads.ms),
      logs: () => store.forgetOldLines(ages.logs.ms),
      runs: () => store.forgetOldRuns(ages.runs.ms),
      changes: () => store.forgetChanges(ages.changes.ms),
    });
    const line = inOneLine(cleared);
    if (line !== undefined) log(`Removed by retention: ${line}.`);
  }

  async function makeRoom(wanted: number): Promise<void> {
    const cleared: Cleared = {};
    const isEnough = async (): Promise<boolean> => (await free(workDir)) >= wanted;
    for (const kind of keptKinds) {
      if (await isEnough()) break;
      cleared[kind] = await clearKept(kind, inUseMs);
    }
    if (!(await isEnough())) cleared.builds = await clearBuilds(withoutOthers(ages.builds));
    const line = inOneLine(cleared);
    if (line !== undefined) log(`The disk is nearly full; removed early: ${line}.`);
  }

  async function lookAgainAndAgain(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look();
      await pause(clock, lookEveryMs, stopping.signal);
    }
  }

  return {
    look,
    makeRoom,
    start() {
      looking = lookAgainAndAgain();
    },
    async stop() {
      stopping.abort();
      await looking;
    },
  };
}

/** How much of each kind was removed. */
type Cleared = Partial<Record<keyof Ages, number>>;

/** Singular and plural. */
const words: Record<keyof Ages, readonly [string, string]> = {
  builds: ['build', 'builds'],
  mirrors: ['mirror of a repository', 'mirrors of repositories'],
  packages: ['set of installed packages', 'sets of installed packages'],
  downloads: ['folder of downloads', 'folders of downloads'],
  uploads: ['uploaded tarball', 'uploaded tarballs'],
  logs: ['line of logs', 'lines of logs'],
  runs: ['run of a tracing project', 'runs of tracing projects'],
  changes: ['entry of the audit log', 'entries of the audit log'],
};

/** Lists what was removed; undefined for nothing. */
export function inOneLine(cleared: Cleared): string | undefined {
  const parts = Object.entries(words).flatMap(([name, [one, several]]) => {
    const count = Object.entries(cleared).find(([each]) => each === name)?.[1] ?? 0;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
  });
  return parts.length === 0 ? undefined : parts.join(', ');
}
