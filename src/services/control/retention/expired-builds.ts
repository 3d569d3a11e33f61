import { basename } from 'node:path';
import { keptMs, minutesKeptMs } from '../health/figures.ts';
import { hasEnded } from '../revisions/states.ts';
import { sessionIdleMs } from '../sessions/repository.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** All retention times, in milliseconds. */
export const ages = {
  /**
   * Builds. Keeps those of revisions that are live or in progress, those of the last `live` revisions that were live,
   * and the `newest` others. Removes the rest after `ms`; of more than `most` in a deployment, the oldest at once.
   */
  builds: { live: 5, newest: 4, most: 20, ms: day },
  /** Lines of build and deploy logs, by the time of writing; a live revision keeps its own. */
  logs: { ms: 30 * day },
  /** Uploaded tarballs, by the time of the upload; those of revisions that are live or in progress stay. */
  uploads: { ms: 30 * day },
  /** Mirrors of repositories, by their last use. */
  mirrors: { ms: 14 * day },
  /** Installed packages of a lock file, by their last use. */
  packages: { ms: 14 * day },
  /** Downloads of package managers, by their last use. */
  downloads: { ms: 14 * day },
  /** Sessions of browsers, by their last request: they have ended. */
  sessions: { ms: sessionIdleMs },
  /** Health figures, by the time that they are of. Those older than `minutesMs` are merged into quarters of an hour. */
  health: { ms: keptMs, minutesMs: minutesKeptMs },
  /** Ended runs. The newest `steps` of a project keep input, output and steps, up to `bytes` on the disk. */
  runs: { ms: 90 * day, steps: 2_000, bytes: 128 * 1024 ** 2 },
  /** The audit log, by the time of the change. */
  changes: { ms: 365 * day },
} as const;

export type Ages = { [Name in keyof typeof ages]: { [Field in keyof (typeof ages)[Name]]: number } };

export const retentionIntervalMs = hour;

/** Where the disk is nearly full, what was used within this time (ms) still stays. */
export const inUseMs = hour;

/** A revision that names a build, as far as retention needs it. */
export type RevisionOfBuild = Pick<RevisionRecord, 'id' | 'status' | 'updated_at'> &
  Pick<DeploymentRecord, 'active_revision_id'> & {
    deployment_id: string;
    build_folder: string;
  };

export type BuiltRevision = Pick<RevisionOfBuild, 'id' | 'status' | 'build_folder' | 'updated_at'>;

/**
 * Which builds of one deployment to remove: neither live, in progress, lately live, nor among the newest. @param
 * revisions those with a build on this machine, newest first.
 */
export function expiredBuilds(
  revisions: readonly BuiltRevision[],
  activeRevisionId: string | null,
  now: number,
  { live, newest, most, ms }: Ages['builds'],
): string[] {
  const needed = new Set<string>();
  const others = new Map<string, number>();
  let wereLive = 0;
  for (const { id, status, build_folder, updated_at } of revisions) {
    const build = basename(build_folder);
    if (status === 'DEPLOYED') wereLive += 1;
    const isWayBack = status === 'DEPLOYED' && wereLive <= live;
    if (id === activeRevisionId || !hasEnded(status) || isWayBack) needed.add(build);
    else if (!others.has(build)) others.set(build, updated_at.getTime());
  }
  return [...others]
    .filter(([build]) => !needed.has(build))
    .filter(([, at], place) => place >= newest && (now - at >= ms || place >= most))
    .map(([build]) => build);
}

/** The same for all deployments. */
export function expiredBuildsOfAll(
  revisions: readonly RevisionOfBuild[],
  now: number,
  bounds: Ages['builds'],
): string[] {
  const deployments = Map.groupBy(revisions, ({ deployment_id }) => deployment_id);
  return [...deployments.values()].flatMap((own) =>
    expiredBuilds(own, own[0]?.active_revision_id ?? null, now, bounds),
  );
}

/** The builds to remove when the disk is nearly full: unused ones, however new. */
export const withoutOthers = (bounds: Ages['builds']): Ages['builds'] => ({ ...bounds, newest: 0, most: 0, ms: 0 });
