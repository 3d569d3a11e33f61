import { basename } from 'node:path';
import { stackOf } from '../../../kit/errors.ts';
import { pause } from '../../../kit/clock.ts';
import { maskOf } from '../../../contract/masking/mask.ts';
import { buildsFolder } from '../builds/build-folder.ts';
import { killOrphanedProcesses } from '../builds/build-processes.ts';
import type { BuildDependencies } from '../builds/make-build.ts';
import { agentSecrets } from '../compute/agent-environment.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';
import { ensureDatabaseOn, type WayToDatabase, recordDatabaseStates } from './agent-database.ts';
import { retryBackoff, retryPolicy, type Retry } from './retry-policy.ts';
import { performDeletion, removeBuilds, removeOldBuilds } from './deletion.ts';
import { liveProgram, repairLive } from './agent-program.ts';
import { agentSpec, rollOutRevision } from './roll-out-revision.ts';
import {
  failRevision,
  HoldNotifier,
  openJob,
  RevisionInterrupted,
  type RolloutDependencies,
  nextRevision,
} from './rollout-job.ts';
import { agentExitHandlers, tenantErrorMessage } from './agent-exits.ts';
import { LiveAgents } from './live-agents.ts';
import { revisionLogs } from './revision-logs.ts';
import { createSemaphore } from './semaphore.ts';

export const maxConcurrentBuilds = 2;
const maxConcurrentDatabases = 4;

export interface RolloutsSettings
  extends
    Pick<
      RolloutDependencies,
      'store' | 'dataDir' | 'adminDatabaseUrl' | 'log' | 'compute' | 'cloning' | 'tracing' | 'userOf' | 'step'
    >,
    Pick<BuildDependencies, 'allowGit' | 'clock' | 'makeRoom' | 'program'> {
  /** The parent of the folder `builds/` and of the folders that builds share; the data folder when absent. */
  workDir?: string;
  /** Opens the way of an agent's process to its database; when absent, agents connect as this service does. */
  wayToDatabase?: WayToDatabase | undefined;
  gateway: Gateway;
  buildBounds?: BuildDependencies['bounds'];
  /** How long requests in flight may take on an agent that is replaced (ms). */
  drainMs?: number;
  /** How long they may take on the agents of a deployment that is being deleted (ms). */
  deletionDrainMs?: number;
  /** How often the table is polled for work without a notification (ms). */
  pollMs?: number;
}

/**
 * Carries out revisions, one at a time per deployment. The table of revisions is the truth: `wake` only avoids waiting
 * for the next poll. Nothing happens before `recover`, which finds all work that was requested earlier.
 */
export class Rollouts {
  readonly #settings: RolloutsSettings & { workDir: string; pollMs: number };
  readonly #stopping = new AbortController();
  readonly #retry: Retry;
  readonly #jobs: RolloutDependencies;
  readonly #activeWork = new Map<string, Promise<void>>();
  /** Deployments whose live agent is being restarted. */
  readonly #restarting = new Set<string>();
  readonly #hasMoreWork = new Set<string>();
  readonly #inProgress = new Map<string, { revisionId: string; interrupt: AbortController }>();
  readonly #background = new Set<Promise<void>>();
  readonly #startBackoff;
  readonly #deletionBackoff;
  #recovered = false;

  constructor(settings: RolloutsSettings) {
    const { store, allowGit, gateway, compute, clock, log, makeRoom, program } = settings;
    const { workDir = settings.dataDir, pollMs = 30_000, drainMs = 600_000 } = settings;
    this.#settings = { ...settings, workDir, pollMs };
    this.#retry = retryPolicy(clock, this.#stopping.signal, log);
    this.#startBackoff = retryBackoff(clock, pollMs);
    this.#deletionBackoff = retryBackoff(clock, pollMs);
    const inBackground = this.#inBackground.bind(this);
    this.#jobs = {
      ...settings,
      builds: { dataDir: workDir, allowGit, clock, bounds: settings.buildBounds, makeRoom, program },
      buildSlots: createSemaphore(maxConcurrentBuilds),
      databaseSlots: createSemaphore(maxConcurrentDatabases),
      ensureDatabase: ensureDatabaseOn(settings.adminDatabaseUrl, settings.wayToDatabase),
      live: new LiveAgents({
        compute,
        gateway,
        clock,
        drainMs,
        repair: (spec, signal) => repairLive(spec, signal, this.#jobs),
        exitHandlers: agentExitHandlers({ store, retry: this.#retry, inBackground }),
      }),
      holdNotifier: new HoldNotifier(),
      retry: this.#retry,
      logs: revisionLogs({ store, clock, log, signal: this.#stopping.signal }),
    };
  }

  /** Call when a deployment has a new revision, a revision was interrupted, or a hold was decided. Returns at once. */
  wake(deploymentId: string): void {
    if (!this.#recovered || this.#stopping.signal.aborted) return;
    this.#jobs.holdNotifier.notify(deploymentId);
    if (!this.#activeWork.has(deploymentId)) {
      this.#startWork(deploymentId, async () => undefined);
      return;
    }
    this.startNext(deploymentId);
    this.#hasMoreWork.add(deploymentId);
    this.#inBackground('Queueing a revision', () => this.#claimNext(deploymentId));
  }

  /** Cancels the work on a revision that was interrupted. Returns at once. */
  interrupted(deploymentId: string, revisionId: string): void {
    const work = this.#inProgress.get(deploymentId);
    if (work?.revisionId === revisionId) work.interrupt.abort(new RevisionInterrupted());
  }

  /** Whether the agent of a deployment is starting. True for all until the list of live deployments is read. */
  isStarting(deploymentId: string): boolean {
    return !this.#recovered || this.#restarting.has(deploymentId) || this.#jobs.live.isSupervised(deploymentId);
  }

  /** Stops an idle agent until `wakeAgent`; false where it does not serve, or its deployment is being changed. */
  scaleToZero(deploymentId: string): boolean {
    return !this.#activeWork.has(deploymentId) && this.#jobs.live.scaleToZero(deploymentId);
  }

  /** Starts an agent that was scaled to zero; undefined where it was not. Resolves once it serves, or fails to start. */
  wakeAgent(deploymentId: string): Promise<void> | undefined {
    return this.#jobs.live.wake(deploymentId);
  }

  isScaledToZero(deploymentId: string): boolean {
    return this.#jobs.live.isScaledToZero(deploymentId);
  }

  /** Starts the agent of a deployment before others that wait for a start, because a request needs it. */
  startNext(deploymentId: string): void {
    this.#jobs.databaseSlots.moveToFront(deploymentId);
    this.#jobs.live.startNext(deploymentId);
  }

  /** Starts the agents of live revisions, and continues with the other revisions. Call once, when the service starts. */
  async recover(): Promise<void> {
    const { store, workDir, clock, log } = this.#settings;
    const killedCount = await killOrphanedProcesses(buildsFolder(workDir), clock);
    if (killedCount > 0)
      log.info(`${killedCount} orphaned processes of builds and agents of an earlier service were ended.`);
    const usedBuilds = new Set((await this.#retry(() => store.usedBuilds())).map((build) => basename(build)));
    await removeBuilds(this.#jobs, (build) => !usedBuilds.has(build));
    await this.#retry(() => store.renameDatabases(log));
    await this.#restartAgents();
    this.#recovered = true;
    await this.#wakeDeploymentsWithWork();
    this.#inBackground('Looking for work', () => this.#poll());
  }

  /** Stops everything. Kills a running build, which the next start repeats; drains agents. */
  async stop(withinMs = 9_000): Promise<void> {
    const { live, logs } = this.#jobs;
    this.#stopping.abort();
    await Promise.all([live.stop(withinMs), ...this.#activeWork.values(), ...this.#background]);
    // Stop agents that started while the others were stopping.
    await live.stop(0);
    await logs.flush();
  }

  async #logErrors(what: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#settings.log.error(`${what} failed: ${stackOf(error)}`);
    });
  }

  #inBackground(what: string, work: () => Promise<void>): void {
    const task: Promise<void> = this.#logErrors(what, work).finally(() => this.#background.delete(task));
    this.#background.add(task);
  }

  #startWork(deploymentId: string, prepare: () => Promise<void>): void {
    const work = async (): Promise<void> => {
      await this.#logErrors(`Restarting the agent of deployment ${deploymentId}`, prepare);
      await this.#logErrors(`The work on deployment ${deploymentId}`, () => this.#processQueue(deploymentId));
      this.#activeWork.delete(deploymentId);
      if (this.#hasMoreWork.delete(deploymentId)) this.wake(deploymentId);
    };
    this.#activeWork.set(deploymentId, work());
  }

  async #processQueue(deploymentId: string): Promise<void> {
    const { store } = this.#settings;
    do {
      this.#hasMoreWork.delete(deploymentId);
      const revision = await this.#retry(() => nextRevision(store, deploymentId));
      const deployment = await this.#retry(() => store.deployment(deploymentId));
      if (deployment && deployment.deletion !== 'none') return this.#deleteDeployment(deployment);
      if (!revision || !deployment) continue;
      await this.#rollOut(deployment, revision);
      this.#hasMoreWork.add(deploymentId);
    } while (this.#hasMoreWork.has(deploymentId) && !this.#stopping.signal.aborted);
  }

  async #rollOut(deployment: DeploymentRecord, revision: RevisionRecord): Promise<void> {
    const stopSignal = this.#stopping.signal;
    const interrupt = new AbortController();
    this.#inProgress.set(deployment.id, { revisionId: revision.id, interrupt });
    const job = openJob(deployment, revision, AbortSignal.any([interrupt.signal, stopSignal]), this.#jobs);
    try {
      await rollOutRevision(job, this.#jobs);
      await removeOldBuilds(deployment.id, this.#jobs);
    } catch (error) {
      if (stopSignal.aborted) return;
      // An unforeseen error may quote secrets.
      const project = deployment.tracing_project_id;
      const mask = maskOf(
        agentSecrets({
          secrets: [...deployment.secrets, ...revision.secrets],
          database: deployment.database_password,
          tokens: [project === null ? undefined : this.#settings.tracing?.(project).token],
        }),
      );
      this.#settings.log.error(`Revision ${revision.id} could not be carried out: ${mask(stackOf(error))}`);
      const reason = mask(tenantErrorMessage(error));
      await failRevision(job, `The service could not deploy this revision: ${reason}`, this.#jobs);
    } finally {
      this.#inProgress.delete(deployment.id);
      await job.buildLog.flush();
    }
  }

  /** Continues a deletion. On an error, stores it for the deployment's response and retries later. */
  async #deleteDeployment(deployment: DeploymentRecord): Promise<void> {
    const { id } = deployment;
    const { store, log, deletionDrainMs = 10_000 } = this.#settings;
    try {
      await performDeletion(deployment, this.#jobs, deletionDrainMs);
      this.#deletionBackoff.succeeded(id);
      this.#startBackoff.succeeded(id);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#deletionBackoff.failed(id);
      log.error(`Deployment ${id} could not be deleted: ${stackOf(error)}`);
      await this.#retry(() => store.noteDeletionProblem(id, tenantErrorMessage(error)));
    }
  }

  /** Queues a revision that was requested while another one is being carried out. */
  async #claimNext(deploymentId: string): Promise<void> {
    const claimed = await this.#retry(() => this.#settings.store.claimNextRevision(deploymentId));
    if (claimed) this.wake(deploymentId);
  }

  async #wakeDeploymentsWithWork(): Promise<void> {
    const { store } = this.#settings;
    const isIdle = (id: string): boolean => !this.#activeWork.has(id);
    for (const id of await this.#retry(() => store.deploymentsWithWork())) if (isIdle(id)) this.wake(id);
    const deletions = await this.#retry(() => store.deletionsToCarryOut());
    for (const id of deletions) if (isIdle(id) && this.#deletionBackoff.isDue(id)) this.wake(id);
  }

  async #poll(): Promise<void> {
    const { clock, pollMs } = this.#settings;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await pause(clock, pollMs, signal);
      if (signal.aborted) return;
      await this.#logErrors('Restarting agents', () => this.#restartAgents());
      await this.#logErrors("Looking at the agents' databases", () => recordDatabaseStates(this.#jobs));
      await this.#logErrors('Looking for work', () => this.#wakeDeploymentsWithWork());
    }
  }

  /** Starts every live agent that is not supervised: all of them at first, later those whose start failed. */
  async #restartAgents(): Promise<void> {
    for (const { deployment, revision } of await this.#retry(() => this.#settings.store.activeRevisions())) {
      const { id } = deployment;
      if (this.#jobs.live.isSupervised(id) || this.#activeWork.has(id) || !this.#startBackoff.isDue(id)) continue;
      this.#restarting.add(id);
      this.#startWork(id, () => this.#restartAgent(deployment, revision).finally(() => this.#restarting.delete(id)));
    }
  }

  async #restartAgent(deployment: DeploymentRecord, revision: RevisionRecord): Promise<void> {
    // Counts as failed until it succeeds, so that every way to fail delays the next attempt.
    this.#startBackoff.failed(deployment.id);
    const job = openJob(deployment, revision, this.#stopping.signal, this.#jobs);
    const program = await liveProgram(job, this.#jobs);
    if (!program) return;
    job.deployLog.write('info', 'The service was started again; starting the agent.');
    this.#jobs.live.superviseLive(await agentSpec(job, program, this.#jobs));
    this.#startBackoff.succeeded(deployment.id);
  }
}
