import type { BuildDependencies } from '../builds/make-build.ts';
import type { Compute, TracingTarget } from '../compute/compute.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import type { Integrations } from '../integrations/integrations.ts';
import type { ControlStore } from '../store/store.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';
import type { ensureDatabaseOn } from './agent-database.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { LiveAgents } from './live-agents.ts';
import type { RevisionLogs, LogWriter } from './revision-logs.ts';
import type { Retry } from './retry-policy.ts';
import type { Semaphore } from './semaphore.ts';
import { runningStatuses } from '../revisions/states.ts';
import type { Logger } from '../../../kit/logger.ts';

/** Tells rollouts of held revisions that their deployment has changed: a decision may have been stored. */
export class HoldNotifier {
  readonly #waiting = new Map<string, () => void>();

  /** Resolves when the deployment is next notified. */
  nextNotification(deploymentId: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(deploymentId, resolve));
  }

  notify(deploymentId: string): void {
    this.#waiting.get(deploymentId)?.();
    this.#waiting.delete(deploymentId);
  }
}

export interface RolloutDependencies {
  store: ControlStore;
  dataDir: string;
  /** The URL of Landfall's own database. A secret: its role may create and drop databases and roles. */
  adminDatabaseUrl: string;
  log: Logger;
  builds: BuildDependencies;
  buildSlots: Semaphore;
  /** Limits how many agents' databases are prepared at once: each takes a connection, and all start with the service. */
  databaseSlots: Semaphore;
  compute: Compute;
  ensureDatabase: ReturnType<typeof ensureDatabaseOn>;
  live: LiveAgents;
  gateway: Pick<Gateway, 'hold'>;
  /** Notifies a rollout that its held revision may have been decided. */
  holdNotifier: HoldNotifier;
  retry: Retry;
  logs: RevisionLogs;
  /** Gets tokens for private repositories; without it clones use no credentials. */
  cloning?: Pick<Integrations, 'cloneToken' | 'endToken'> | undefined;
  /** Returns where the agents of a tracing project report their runs; without it agents report no runs. */
  tracing?: ((projectId: string) => TracingTarget) | undefined;
  /** Returns the user of this machine that runs a deployment's builds and agents; without it this service's user does. */
  userOf?: ((deployment: DeploymentRecord) => Promise<ProcessUser | undefined>) | undefined;
  step?: RolloutStep | undefined;
}

/** Called after each step of a rollout, with its name in the crash table of docs/design/rollouts.md. */
export type RolloutStep = (done: string, revisionId: string) => void | Promise<void>;

/** The abort reason where the revision was interrupted; without it the service stops. */
export class RevisionInterrupted extends Error {}

export interface RolloutJob {
  deployment: DeploymentRecord;
  revision: RevisionRecord;
  buildLog: LogWriter;
  deployLog: LogWriter;
  /** Aborts when the revision was interrupted, or the service stops. */
  signal: AbortSignal;
}

/** Creates the job of a revision, and opens its logs. */
export const openJob = (
  deployment: DeploymentRecord,
  revision: RevisionRecord,
  signal: AbortSignal,
  { logs }: RolloutDependencies,
): RolloutJob => ({
  deployment,
  revision,
  buildLog: logs.open(revision.id, 'build'),
  deployLog: logs.open(revision.id, 'deploy'),
  signal,
});

/** The statuses from which a revision can fail in each way. */
const statusesBefore = {
  BUILD_FAILED: ['AWAITING_BUILD', 'BUILDING'],
  DEPLOY_FAILED: ['AWAITING_DEPLOY', 'DEPLOYING'],
} as const;

/** Ends a revision as failed, with the reason in its status and at the end of its log. The live one keeps serving. */
export async function fail(
  { revision, buildLog, deployLog }: RolloutJob,
  status: keyof typeof statusesBefore,
  reason: string,
  { store, retry }: RolloutDependencies,
): Promise<void> {
  const log = status === 'DEPLOY_FAILED' ? deployLog : buildLog;
  log.write('error', reason);
  await log.flush();
  await retry(() => store.setStatus(revision.id, statusesBefore[status], status, { message: reason }));
}

/** Ends a revision as failed from any status, for an unforeseen reason. */
export async function failRevision(
  { revision, buildLog }: RolloutJob,
  reason: string,
  { store, retry }: RolloutDependencies,
) {
  buildLog.write('error', reason);
  for (const status of ['BUILD_FAILED', 'DEPLOY_FAILED'] as const) {
    await retry(() => store.setStatus(revision.id, statusesBefore[status], status, { message: reason }));
  }
}

/** The status from which an interrupted step starts again. */
const restartStatus = { BUILDING: 'AWAITING_BUILD', DEPLOYING: 'AWAITING_DEPLOY' } as const;

/**
 * Returns the revision of a deployment to carry out now: one that a stop interrupted, else the newest that waits. Only
 * this process carries out revisions, so one that the database shows as running was interrupted.
 */
export async function nextRevision(store: ControlStore, deploymentId: string): Promise<RevisionRecord | undefined> {
  const [started] = await store.listRevisions(deploymentId, { limit: 1, statuses: runningStatuses });
  // A revision that a listener has claimed runs in its cluster.
  const isOurs = started?.source_config.listener_id == null;
  if (!started || !isOurs) return store.claimNextRevision(deploymentId);
  const { id, status } = started;
  if (status !== 'BUILDING' && status !== 'DEPLOYING') return started;
  const message = 'Restarted: the service was stopped in the middle of it.';
  return store.setStatus(id, [status], restartStatus[status], { message });
}
