import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { dropAgentDatabase } from '../../../kit/postgres/databases.ts';
import { buildFolder, listBuilds, cleanUp } from '../builds/build-folder.ts';
import { removeGeneratedLock } from '../builds/generated-lock.ts';
import type { DeploymentRecord } from '../store/tables.ts';
import { ages, expiredBuilds } from '../retention/expired-builds.ts';
import { databaseOf } from './agent-database.ts';
import type { RolloutDependencies } from './rollout-job.ts';

/**
 * Carries out a deletion: stops the agents, deletes the data, and at last the row, so that a client sees when it is
 * complete. Each step is idempotent. Waits for a listener to remove its deployment first.
 *
 * @throws the error of a failed step.
 */
export async function performDeletion(
  deployment: DeploymentRecord,
  tools: RolloutDependencies,
  drainMs: number,
): Promise<void> {
  const { store, live, compute, logs, retry, dataDir, adminDatabaseUrl } = tools;
  const { id, name, source_config, deletion } = deployment;
  const isListeners = source_config.listener_id != null;
  if (isListeners && deletion === 'asked') return;
  await live.release(id, drainMs);
  if (!isListeners) {
    await compute.remove?.({ id, name, namespace: source_config.listener_config?.k8s_namespace ?? undefined });
  }
  // Write the agents' last log lines before their revisions are deleted.
  await logs.flush();
  await retry(() => store.noteStopped(id));
  await retry(() => dropAgentDatabase(adminDatabaseUrl, databaseOf(deployment)));
  const buildNames = new Set(await retry(() => store.revisionIds(id)));
  for (const build of await retry(() => store.revisionsWithBuild(id)))
    buildNames.add(basename(build.build_folder ?? ''));
  await removeBuilds(tools, (build) => buildNames.has(build));
  for (const build of buildNames) removeGeneratedLock(tools.builds.dataDir, build);
  await rm(join(dataDir, 'uploads', id), { recursive: true, force: true, maxRetries: 3 });
  await retry(() => store.finishDeletion(id));
}

/** Removes the builds on this machine whose folders are selected. */
export async function removeBuilds(
  { builds: { dataDir }, log }: RolloutDependencies,
  isSelected: (build: string) => boolean,
): Promise<void> {
  for (const build of listBuilds(dataDir).filter(isSelected))
    await cleanUp(buildFolder(dataDir, build).root, (message) => log.warn(message));
}

/** Removes a deployment's old builds after a new one, by the limits of `retention/expired-builds.ts`. */
export async function removeOldBuilds(deploymentId: string, tools: RolloutDependencies): Promise<void> {
  const { store, retry, builds } = tools;
  const deployment = await retry(() => store.deployment(deploymentId));
  const existingBuilds = new Set(listBuilds(builds.dataDir));
  const builtRevisions = (await retry(() => store.revisionsWithBuild(deploymentId))).flatMap((revision) =>
    revision.build_folder === null || !existingBuilds.has(basename(revision.build_folder))
      ? []
      : [{ ...revision, build_folder: revision.build_folder }],
  );
  const expired = expiredBuilds(
    builtRevisions,
    deployment?.active_revision_id ?? null,
    builds.clock.now(),
    ages.builds,
  );
  await removeBuilds(tools, (build) => expired.includes(build));
}
