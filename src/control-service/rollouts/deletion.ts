import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { dropAgentDatabase } from '../../postgres/databases.ts';
import { buildFolder, buildsThere, cleanUp } from '../builds/build-folder.ts';
import type { Compute } from '../compute/compute.ts';
import type { ControlStore } from '../store/store.ts';
import type { DeploymentRecord } from '../store/tables.ts';
import { databaseOf } from './agent-database.ts';
import type { LiveAgents } from './live-agents.ts';
import type { LogBook } from './log-book.ts';
import type { Retrying } from './retry-policy.ts';

/** The dependencies of a deletion. */
export interface DeletionTools {
  store: ControlStore;
  live: Pick<LiveAgents, 'release'>;
  compute: Pick<Compute, 'remove'>;
  logs: Pick<LogBook, 'flush'>;
  retrying: Retrying;
  /** The service's data folder. */
  dataDir: string;
  /** The parent of the folder `builds/`. */
  workDir: string;
  /** Address of Landfall's own database, with a role that may drop the agents': a secret. */
  adminDatabaseUrl: string;
  /** How long requests in flight may take, in milliseconds. */
  cutAfterMs: number;
  log: (message: string) => void;
}

/**
 * Carries out the deletion of a deployment: its agents end, then its data is removed, and last its row, so that a client
 * sees when it is complete. Each step is idempotent: the next start repeats an interrupted one.
 *
 * A deployment of a listener is removed by the listener first, which then records that it stopped.
 *
 * @throws the error of a failed step; completed steps are not undone.
 */
export async function carryOutDeletion(deployment: DeploymentRecord, tools: DeletionTools): Promise<void> {
  const { store, live, compute, logs, retrying, dataDir, adminDatabaseUrl, cutAfterMs } = tools;
  const { id, name, source_config, deletion } = deployment;
  const isListeners = source_config.listener_id != null;
  if (isListeners && deletion === 'asked') return;
  await live.release(id, cutAfterMs);
  if (!isListeners) {
    await compute.remove?.({ id, name, namespace: source_config.listener_config?.k8s_namespace ?? undefined });
  }
  // Write the agents' last lines: their revision is about to be deleted.
  await logs.flush();
  await retrying(() => store.noteStopped(id));
  await retrying(() => dropAgentDatabase(adminDatabaseUrl, databaseOf(deployment)));
  await removeFiles(deployment, tools);
  await rm(join(dataDir, 'uploads', id), { recursive: true, force: true, maxRetries: 3 });
  await retrying(() => store.finishDeletion(id));
}

/** Removes the builds of all its revisions, also unfinished ones. */
async function removeFiles({ id }: DeploymentRecord, { store, retrying, workDir, log }: DeletionTools): Promise<void> {
  const own = new Set(await retrying(() => store.revisionIds(id)));
  for (const build of await retrying(() => store.revisionsWithBuild(id))) own.add(basename(build.build_folder ?? ''));
  for (const folder of buildsThere(workDir)) {
    if (own.has(folder)) await cleanUp(buildFolder(workDir, folder).root, log);
  }
}
