import { basename } from 'node:path';
import { stackOf } from '../../../kit/errors.ts';
import { pause } from '../../../kit/clock.ts';
import { maskOf } from '../../../contract/masking/mask.ts';
import { buildsIn } from '../builds/build-folder.ts';
import { killOrphanedProcesses } from '../builds/build-processes.ts';
import type { BuildSettings } from '../builds/make-build.ts';
import { agentSecrets } from '../compute/agent-environment.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';
import { ensureOn, type WayToDatabase, recordDatabaseStates } from './agent-database.ts';
import { retryBackoff, retryPolicy } from './retry-policy.ts';
import { performDeletion, removeBuilds, removeOldBuilds } from './deletion.ts';
import { liveProgram, repairLive } from './agent-program.ts';
import { agentSpec, rollOutRevision } from './roll-out-revision.ts';
import {
  failRevision,
  HoldNews,
  openJob,
  RevisionInterrupted,
  type RolloutDependencies,
  nextRevision,
} from './rollout-job.ts';
import { agentExitHandlers, tenantErrorMessage } from './agent-exits.ts';
import { liveAgents } from './live-agents.ts';
import { revisionLogs } from './revision-logs.ts';
import { createSemaphore } from './semaphore.ts';

const buildsAtOnce = 2;
const databasesAtOnce = 4;

export interface RolloutsSettings
  extends
    Pick<
      RolloutDependencies,
      'store' | 'dataDir' | 'adminDatabaseUrl' | 'log' | 'compute' | 'cloning' | 'tracing' | 'userOf' | 'step'
    >,
    Pick<BuildSettings, 'allowGit' | 'clock' | 'makeRoom' | 'program'> {
  /** The parent of the folder `builds/` and of the folders that builds share; the data folder when absent. */
  workDir?: string;
  /** How processes of this machine reach their databases; like this service when absent. */
  wayToDatabase?: WayToDatabase | undefined;
  gateway: Gateway;
  buildBounds?: BuildSettings['bounds'];
  /** How long requests in flight on a former process may take (ms). */
  drainMs?: number;
  /** The same for the agents of a deployment that is being deleted (ms). */
  deletionDrainMs?: number;
  /** How often the table is polled for work without a notification (ms). */
  pollMs?: number;
}

/**
 * Carries revisions out, one at a time per deployment. The table of revisions is the truth; `wake` only saves time.
 * Nothing happens before `recover`, which covers all earlier requests.
 */
export function startRollouts(settings: RolloutsSettings) {
  const { store, dataDir, allowGit, gateway, compute, clock, log, makeRoom, program, pollMs = 30_000 } = settings;
  const { workDir = dataDir } = settings;
  const stopping = new AbortController();
  const retrying = retryPolicy(clock, stopping.signal, log);
  const tools: RolloutDependencies = {
    ...settings,
    builds: { dataDir: workDir, allowGit, clock, bounds: settings.buildBounds, makeRoom, program },
    buildSlots: createSemaphore(buildsAtOnce),
    databaseSlots: createSemaphore(databasesAtOnce),
    ensureDatabase: ensureOn(settings.adminDatabaseUrl, settings.wayToDatabase),
    live: liveAgents({
      compute,
      gateway,
      clock,
      drainMs: settings.drainMs ?? 600_000,
      repair: (spec, signal) => repairLive(spec, signal, tools),
      exitHandlers: agentExitHandlers({ store, retrying, inBackground }),
    }),
    holdNews: new HoldNews(),
    retrying,
    logs: revisionLogs({ store, clock, log, signal: stopping.signal }),
  };
  const activeWork = new Map<string, Promise<void>>();
  /** Deployments whose live agent is about to be started again. */
  const restarting = new Set<string>();
  const hasMoreWork = new Set<string>();
  const inProgress = new Map<string, { revisionId: string; interrupt: AbortController }>();
  const background = new Set<Promise<void>>();
  const startBackoff = retryBackoff(clock, pollMs);
  const deletionBackoff = retryBackoff(clock, pollMs);
  let recovered = false;

  function logErrors(what: string, work: () => Promise<void>): Promise<void> {
    return work().catch((error: unknown) => {
      if (!stopping.signal.aborted) log.error(`${what} failed: ${stackOf(error)}`);
    });
  }

  function inBackground(what: string, work: () => Promise<void>): void {
    const kept: Promise<void> = logErrors(what, work).finally(() => background.delete(kept));
    background.add(kept);
  }

  async function processQueue(deploymentId: string): Promise<void> {
    do {
      hasMoreWork.delete(deploymentId);
      const revision = await retrying(() => nextRevision(store, deploymentId));
      const deployment = await retrying(() => store.deployment(deploymentId));
      if (deployment && deployment.deletion !== 'none') return deleteDeployment(deployment);
      if (!revision || !deployment) continue;
      await rollOut(deployment, revision);
      hasMoreWork.add(deploymentId);
    } while (hasMoreWork.has(deploymentId) && !stopping.signal.aborted);
  }

  async function rollOut(deployment: DeploymentRecord, revision: RevisionRecord): Promise<void> {
    const interrupt = new AbortController();
    inProgress.set(deployment.id, { revisionId: revision.id, interrupt });
    const job = openJob(deployment, revision, AbortSignal.any([interrupt.signal, stopping.signal]), tools);
    try {
      await rollOutRevision(job, tools);
      await removeOldBuilds(deployment.id, tools);
    } catch (error) {
      if (stopping.signal.aborted) return;
      // An unforeseen error may quote secrets.
      const project = deployment.tracing_project_id;
      const mask = maskOf(
        agentSecrets({
          secrets: [...deployment.secrets, ...revision.secrets],
          database: deployment.database_password,
          tokens: [project === null ? undefined : settings.tracing?.(project).token],
        }),
      );
      log.error(`Revision ${revision.id} could not be carried out: ${mask(stackOf(error))}`);
      const words = mask(tenantErrorMessage(error));
      await failRevision(job, `The service could not deploy this revision: ${words}`, tools);
    } finally {
      inProgress.delete(deployment.id);
      await job.buildLog.flush();
    }
  }

  /** Continues a deletion. Stores an error where the deployment is read, and retries later. */
  async function deleteDeployment(deployment: DeploymentRecord): Promise<void> {
    const { id } = deployment;
    try {
      await performDeletion(deployment, tools, settings.deletionDrainMs ?? 10_000);
      deletionBackoff.done(id);
      startBackoff.done(id);
    } catch (error) {
      if (stopping.signal.aborted) return;
      deletionBackoff.failed(id);
      log.error(`Deployment ${id} could not be deleted: ${stackOf(error)}`);
      await retrying(() => store.noteDeletionProblem(id, tenantErrorMessage(error)));
    }
  }

  /** Queues a revision that was requested while another one is being carried out. */
  async function claimNext(deploymentId: string): Promise<void> {
    const claimed = await retrying(() => store.claimNextRevision(deploymentId));
    if (claimed) wake(deploymentId);
  }

  function wake(deploymentId: string): void {
    if (!recovered || stopping.signal.aborted) return;
    tools.holdNews.ring(deploymentId);
    if (activeWork.has(deploymentId)) {
      startNext(deploymentId);
      hasMoreWork.add(deploymentId);
      inBackground('Queueing a revision', () => claimNext(deploymentId));
      return;
    }
    startWork(deploymentId, async () => undefined);
  }

  function startWork(deploymentId: string, prepare: () => Promise<void>): void {
    const work = async (): Promise<void> => {
      await logErrors(`Restarting the agent of deployment ${deploymentId}`, prepare);
      await logErrors(`The work on deployment ${deploymentId}`, () => processQueue(deploymentId));
      activeWork.delete(deploymentId);
      if (hasMoreWork.delete(deploymentId)) wake(deploymentId);
    };
    activeWork.set(deploymentId, work());
  }

  async function wakeDeploymentsWithWork(): Promise<void> {
    for (const id of await retrying(() => store.deploymentsWithWork())) if (!activeWork.has(id)) wake(id);
    const toDelete = await retrying(() => store.deletionsToCarryOut());
    for (const id of toDelete) if (!activeWork.has(id) && deletionBackoff.isDue(id)) wake(id);
  }

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(clock, pollMs, stopping.signal);
      if (stopping.signal.aborted) return;
      await logErrors('Restarting agents', restartAgents);
      await logErrors("Looking at the agents' databases", () => recordDatabaseStates(tools));
      await logErrors('Looking for work', wakeDeploymentsWithWork);
    }
  }

  /** Starts the agents of live revisions without supervision: at the start all of them, later those that failed. */
  async function restartAgents(): Promise<void> {
    for (const { deployment, revision } of await retrying(() => store.activeRevisions())) {
      const { id } = deployment;
      if (tools.live.isSupervised(id) || activeWork.has(id) || !startBackoff.isDue(id)) continue;
      restarting.add(id);
      startWork(id, () => restartAgent(deployment, revision).finally(() => restarting.delete(id)));
    }
  }

  async function restartAgent(deployment: DeploymentRecord, revision: RevisionRecord): Promise<void> {
    // Counts as failed until it is done, however it ends.
    startBackoff.failed(deployment.id);
    const job = openJob(deployment, revision, stopping.signal, tools);
    const program = await liveProgram(job, tools);
    if (!program) return;
    job.deployLog.write('info', 'The service was started again; starting the agent.');
    tools.live.superviseLive(await agentSpec(job, program, tools));
    startBackoff.done(deployment.id);
  }

  function startNext(deploymentId: string): void {
    tools.databaseSlots.prefer(deploymentId);
    tools.live.startNext(deploymentId);
  }

  return {
    /** The deployment has a revision to carry out, or one less, or one of its holds was decided. Returns at once. */
    wake,
    /** The revision was interrupted: cancels work on it. Returns at once. */
    interrupted(deploymentId: string, revisionId: string): void {
      const work = inProgress.get(deploymentId);
      if (work?.revisionId === revisionId) work.interrupt.abort(new RevisionInterrupted());
    },
    /** Whether an agent is being restarted: any may be, before the list of live deployments is read. */
    isStarting: (deploymentId: string): boolean =>
      !recovered || restarting.has(deploymentId) || tools.live.isSupervised(deploymentId),
    /** A request waits for the agent: starts it next, where many wait for their start. */
    startNext,
    /** Call once at the start: starts the agents of live revisions, and continues with the other revisions. */
    async recover(): Promise<void> {
      const left = await killOrphanedProcesses(buildsIn(workDir), clock);
      if (left > 0) log.info(`${left} orphaned processes of builds and agents of an earlier service were ended.`);
      const named = new Set((await retrying(() => store.namedBuilds())).map((build) => basename(build)));
      await removeBuilds(tools, (build) => !named.has(build));
      await retrying(() => store.renameDatabases(log));
      await restartAgents();
      recovered = true;
      await wakeDeploymentsWithWork();
      inBackground('Looking for work', poll);
    },
    /** Stops everything. Kills a running build, which the next start repeats; drains agents. */
    async stop(withinMs = 9_000): Promise<void> {
      stopping.abort();
      await Promise.all([tools.live.stop(withinMs), ...activeWork.values(), ...background]);
      // An agent may have started at this very moment.
      await tools.live.stop(0);
      await tools.logs.flush();
    },
  };
}
export type Rollouts = ReturnType<typeof startRollouts>;
