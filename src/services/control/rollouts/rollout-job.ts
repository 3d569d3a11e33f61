import type { BuildDependencies } from '../builds/make-build.ts';
import type { Compute, TracingTarget } from '../compute/compute.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import type { Integrations } from '../integrations/integrations.ts';
import type { ControlStore } from '../store/store.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';
import type { ensureOn } from './agent-database.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { LiveAgents } from './live-agents.ts';
import type { RevisionLogs, LogWriter } from './revision-logs.ts';
import type { Retrying } from './retry-policy.ts';
import type { Semaphore } from './semaphore.ts';
import { runningStatuses } from '../revisions/states.ts';
import type { Logger } from '../../../kit/logger.ts';

/** The rollouts that wait for news of their deployments. */
export class HoldNews {
  readonly #waiting = new Map<string, () => void>();

  /** Resolves at the next news of the deployment. */
  next(deploymentId: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(deploymentId, resolve));
  }

  ring(deploymentId: string): void {
    this.#waiting.get(deploymentId)?.();
    this.#waiting.delete(deploymentId);
  }
}

export interface RolloutDependencies {
  store: ControlStore;
  dataDir: string;
  /** Of Landfall's own database, with a role that may create and drop databases and roles: a secret. */
  adminDatabaseUrl: string;
  log: Logger;
  builds: BuildDependencies;
  buildSlots: Semaphore;
  /** Of those who prepare the database of an agent, each with a connection of its own: at the start of the service all do. */
  databaseSlots: Semaphore;
  compute: Compute;
  ensureDatabase: ReturnType<typeof ensureOn>;
  live: LiveAgents;
  gateway: Pick<Gateway, 'hold'>;
  /** Of decisions about held revisions. */
  holdNews: HoldNews;
  retrying: Retrying;
  logs: RevisionLogs;
  /** Gets tokens for private repositories; without it clones use no credentials. */
  cloning?: Pick<Integrations, 'cloneToken' | 'endToken'> | undefined;
  /** Where the agents of a tracing project report their runs; without it they report none. */
  tracing?: ((projectId: string) => TracingTarget) | undefined;
  /** The user of this machine that a deployment's builds and agents run as; absent: as this service's own. */
  userOf?: ((deployment: DeploymentRecord) => Promise<ProcessUser | undefined>) | undefined;
  step?: RolloutStep | undefined;
}

/** Called with the steps of a revision, by their names in the crash table of docs/design/rollouts.md. */
export type RolloutStep = (done: string, revisionId: string) => void | Promise<void>;

/** The reason of a signal that aborts because the revision was interrupted, and not because the service stops. */
export class RevisionInterrupted extends Error {}

export interface RolloutJob {
  deployment: DeploymentRecord;
  revision: RevisionRecord;
  buildLog: LogWriter;
  deployLog: LogWriter;
  /** Aborts when the revision was interrupted, or the service stops. */
  signal: AbortSignal;
}

/** Starts to carry out a revision: opens its logs. */
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

const runningBefore = {
  BUILD_FAILED: ['AWAITING_BUILD', 'BUILDING'],
  DEPLOY_FAILED: ['AWAITING_DEPLOY', 'DEPLOYING'],
} as const;

/** Ends a revision as failed, with the reason in its status and at the end of its log. The live one keeps serving. */
export async function fail(
  { revision, buildLog, deployLog }: RolloutJob,
  status: keyof typeof runningBefore,
  reason: string,
  { store, retrying }: RolloutDependencies,
): Promise<void> {
  const log = status === 'DEPLOY_FAILED' ? deployLog : buildLog;
  log.write('error', reason);
  await log.flush();
  await retrying(() => store.setStatus(revision.id, runningBefore[status], status, { message: reason }));
}

/** Ends a revision as failed from any status, for an unforeseen reason. */
export async function failRevision(
  { revision, buildLog }: RolloutJob,
  reason: string,
  { store, retrying }: RolloutDependencies,
) {
  buildLog.write('error', reason);
  for (const status of ['BUILD_FAILED', 'DEPLOY_FAILED'] as const) {
    await retrying(() => store.setStatus(revision.id, runningBefore[status], status, { message: reason }));
  }
}

/** The status from which an interrupted step starts again. */
const beginAgainAt = { BUILDING: 'AWAITING_BUILD', DEPLOYING: 'AWAITING_DEPLOY' } as const;

/**
 * The revision of a deployment to carry out now: one that was interrupted by a stop, else the newest that waits. Only
 * one process carries out revisions, so one that runs in the database runs nowhere else.
 */
export async function nextRevision(store: ControlStore, deploymentId: string): Promise<RevisionRecord | undefined> {
  const [started] = await store.listRevisions(deploymentId, { limit: 1, statuses: runningStatuses });
  // A revision that a listener has claimed runs in its cluster.
  const isOurs = started?.source_config.listener_id == null;
  if (!started || !isOurs) return store.claimNextRevision(deploymentId);
  const { id, status } = started;
  if (status !== 'BUILDING' && status !== 'DEPLOYING') return started;
  const message = 'Restarted: the service was stopped in the middle of it.';
  return store.setStatus(id, [status], beginAgainAt[status], { message });
}
