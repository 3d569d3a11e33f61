import { basename } from 'node:path';
import type { Clock } from '../../clock.ts';
import { buildFolder, buildsThere, cleanUp } from '../builds/build-folder.ts';
import { ages } from '../retention/ages.ts';
import { oldBuilds } from '../retention/old-builds.ts';
import type { ControlStore } from '../store/store.ts';
import type { Retrying } from './retry-policy.ts';

export interface OldBuildsSettings {
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
