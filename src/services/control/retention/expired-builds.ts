import { basename } from 'node:path';
import { figureRetentionMs, minuteRetentionMs } from '../health/figures.ts';
import { hasEnded } from '../revisions/states.ts';
import { sessionIdleMs } from '../sessions/repository.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** All retention times, in milliseconds. */
export const ages = {
  /**
   * Builds. Keeps those of revisions that are live or in progress, of the last `live` revisions that were live, and the
   * `newest` others. Removes the rest after `ms`, and at once all but the newest `most` of a deployment.
   */
  builds: { live: 5, newest: 4, most: 20, ms: dayMs },
  /** Lines of build and deploy logs, by the time of writing; a live revision keeps its own. */
  logs: { ms: 30 * dayMs },
  /** Uploaded tarballs, by the time of the upload; keeps those of revisions that are live or in progress. */
  uploads: { ms: 30 * dayMs },
  /** Mirrors of repositories, by their last use. */
  mirrors: { ms: 14 * dayMs },
  /** Installed packages of a lock file, by their last use. */
  packages: { ms: 14 * dayMs },
  /** Downloads of package managers, by their last use. */
  downloads: { ms: 14 * dayMs },
  /** Sessions of browsers that have ended, by their last request. */
  sessions: { ms: sessionIdleMs },
  /** Health figures, by their period. Those older than `minutesMs` are merged into quarters of an hour. */
  health: { ms: figureRetentionMs, minutesMs: minuteRetentionMs },
  /** Ended runs. The newest `steps` of a project keep input, output and steps, up to `bytes` on the disk. */
  runs: { ms: 90 * dayMs, steps: 2_000, bytes: 128 * 1024 ** 2 },
  /** The audit log, by the time of the change. */
  changes: { ms: 365 * dayMs },
} as const;

export type Ages = { [Name in keyof typeof ages]: { [Field in keyof (typeof ages)[Name]]: number } };

export const retentionIntervalMs = hourMs;

/** What was used within this time (ms) is kept even if the disk is nearly full. */
export const recentUseMs = hourMs;

/** The fields of a revision with a build that retention needs. */
export type RevisionOfBuild = Pick<RevisionRecord, 'id' | 'status' | 'updated_at'> &
  Pick<DeploymentRecord, 'active_revision_id'> & {
    deployment_id: string;
    build_folder: string;
  };

export type BuiltRevision = Pick<RevisionOfBuild, 'id' | 'status' | 'build_folder' | 'updated_at'>;

/**
 * The builds of one deployment to remove: not live, in progress, lately live, or among the newest. @param revisions
 * those with a build on this machine, newest first.
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
    const isRollbackTarget = status === 'DEPLOYED' && wereLive <= live;
    if (id === activeRevisionId || !hasEnded(status) || isRollbackTarget) needed.add(build);
    else if (!others.has(build)) others.set(build, updated_at.getTime());
  }
  return [...others]
    .filter(([build]) => !needed.has(build))
    .filter(([, at], place) => place >= newest && (now - at >= ms || place >= most))
    .map(([build]) => build);
}

/** The builds of all deployments to remove. */
export function expiredBuildsOfAll(
  revisions: readonly RevisionOfBuild[],
  now: number,
  bounds: Ages['builds'],
): string[] {
  const deployments = Map.groupBy(revisions, ({ deployment_id }) => deployment_id);
  return [...deployments.values()].flatMap((revisionsOfOne) =>
    expiredBuilds(revisionsOfOne, revisionsOfOne[0]?.active_revision_id ?? null, now, bounds),
  );
}

/** The limits when the disk is nearly full: they keep only builds that are needed, however new the others are. */
export const onlyNeeded = (bounds: Ages['builds']): Ages['builds'] => ({ ...bounds, newest: 0, most: 0, ms: 0 });
