import { basename } from 'node:path';
import { hasEnded } from '../rules/revision-states.ts';
import type { RevisionOfBuild } from '../store/retention.ts';
import { type Ages, ages } from './ages.ts';
import type { Clock } from '../../clock.ts';
import { buildFolder, buildsThere, cleanUp } from '../builds/build-folder.ts';
import type { ControlStore } from '../store/store.ts';
import type { Retrying } from '../rollouts/retry-policy.ts';

/** A revision with its build. */
export type BuiltRevision = Pick<RevisionOfBuild, 'id' | 'status' | 'build_folder' | 'updated_at'>;

/**
 * Decides which builds of one deployment to remove: old ones that are neither live nor in progress, nor of the last live
 * revisions, nor among the newest.
 *
 * @param revisions those with a build on this machine, newest first.
 * @returns the ids of the builds.
 */
export function oldBuilds(
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
export function oldBuildsOfAll(revisions: readonly RevisionOfBuild[], now: number, bounds: Ages['builds']): string[] {
  const deployments = Map.groupBy(revisions, ({ deployment_id }) => deployment_id);
  return [...deployments.values()].flatMap((own) => oldBuilds(own, own[0]?.active_revision_id ?? null, now, bounds));
}

/** The builds to remove when the disk is nearly full: unused ones, however new. */
export const withoutOthers = (bounds: Ages['builds']): Ages['builds'] => ({ ...bounds, newest: 0, most: 0, ms: 0 });

interface OldBuildsSettings {
  store: Pick<ControlStore, 'deployment' | 'revisionsWithBuild'>;
  retrying: Retrying;
  /** The parent of the folder `builds/`. */
  workDir: string;
  clock: Clock;
  log: (message: string) => void;
}

/** Removes a deployment's old builds after a new one; `retention/ages.ts` has the limits. */
export async function clearOldBuilds(deploymentId: string, settings: OldBuildsSettings): Promise<void> {
  const { store, retrying, workDir, clock, log } = settings;
  const deployment = await retrying(() => store.deployment(deploymentId));
  const there = new Set(buildsThere(workDir));
  const built = (await retrying(() => store.revisionsWithBuild(deploymentId))).flatMap((revision) =>
    revision.build_folder === null || !there.has(basename(revision.build_folder))
      ? []
      : [{ ...revision, build_folder: revision.build_folder }],
  );
  for (const build of oldBuilds(built, deployment?.active_revision_id ?? null, clock.now(), ages.builds)) {
    await cleanUp(buildFolder(workDir, build).root, log);
  }
}
