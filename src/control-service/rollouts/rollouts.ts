import { basename } from 'node:path';
import { stackOf } from '../../errors.ts';
import { pause, type Clock } from '../../clock.ts';
import { maskOf } from '../../contract/mask.ts';
import { buildFolder, buildsIn, buildsThere, cleanUp } from '../builds/build-folder.ts';
import { killLeftBehind } from '../builds/build-processes.ts';
import type { BuildBounds } from '../builds/build.ts';
import type { Compute } from '../compute/compute.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { ControlStore } from '../store/store.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';
import { ensureOn, usableAgentDatabases, type WayToDatabase, lookAtDatabases } from './agent-database.ts';
import { attempts, retryPolicy } from './retry-policy.ts';
import { carryOutDeletion } from './deletion.ts';
import { clearOldBuilds } from '../retention/old-builds.ts';
import { liveProgram, repairLive } from './agent-program.ts';
import { agentSpec, carryOut } from './carry-out.ts';
import { failAnyway, undertake, type RolloutStep, type Tools, nextRevision } from './rollout-job.ts';
import { agentExitHandlers, wordsForTenant } from './agent-exits.ts';
import { liveAgents } from './live-agents.ts';
import { logBook } from './log-book.ts';
import { slots } from './slots.ts';

export interface RolloutsSettings {
  store: ControlStore;
  /** The service's data folder. */
  dataDir: string;
  /** The parent of the folder `builds/` and of the folders that builds share; the data folder when absent. */
  workDir?: string;
  /** Address of Landfall's own database, with a role that may create databases and roles: a secret. */
  adminDatabaseUrl: string;
  /** How processes of this machine reach their databases; like this service when absent. */
  wayToDatabase?: WayToDatabase | undefined;
  /** Folders of this machine whose repositories may be cloned; absolute paths. */
  allowGit: readonly string[];
  gateway: Gateway;
  compute: Compute;
  /** Gets tokens for private repositories; without it clones use no credentials. */
  cloning?: Tools['cloning'];
  /** Where agents report their runs; without it they report none. */
  tracing?: Tools['tracing'];
  clock: Clock;
  log: (message: string) => void;
  /** The most concurrent builds; 2 when absent. */
  buildsAtOnce?: number;
  /** The limits of a build; the defaults when absent. */
  buildBounds?: Partial<BuildBounds>;
  /** Frees disk space until this many bytes are free; does nothing when absent. */
  makeRoom?: (wanted: number) => Promise<void>;
  /** Called as revisions make progress. */
  step?: RolloutStep | undefined;
  /** How long requests in flight on a former process may take, in milliseconds; 10 minutes when absent. */
  lettingGoMs?: number;
  /** The same for the agents of a deployment that is being deleted; 10 s when absent. */
  cutAfterMs?: number;
  /** The user of this machine that a deployment's builds and agents run as; this service's own when absent. */
  userOf?: Tools['userOf'];
  /** How often the table is polled for work without a notification, in milliseconds; 30 s when absent. */
  lookEveryMs?: number;
}

/** Carries revisions out, one at a time per deployment. The table of revisions is the truth; `wake` only saves time. */
export interface Rollouts {
  /** The deployment has a revision to carry out, or one less. Returns at once. */
  wake: (deploymentId: string) => void;
  /** The revision was interrupted: cancels work on it. Returns at once. */
  interrupted: (deploymentId: string, revisionId: string) => void;
  /** Whether a deployment without a live agent has one that is being restarted. */
  isStarting: (deploymentId: string) => boolean;
  /**
   * Call once at the start: removes orphaned builds, starts the agents of live revisions, and continues with interrupted
   * and waiting revisions. Returns before the agents respond.
   */
  recover: () => Promise<void>;
  /**
   * Stops everything within `withinMs` (9 s when absent). Kills a running build, which the next start repeats; drains
   * agents.
   */
  stop: (withinMs?: number) => Promise<void>;
}

/** Creates the rollouts. Nothing happens before `recover`, which covers all earlier requests. */
export function startRollouts(settings: RolloutsSettings): Rollouts {
  const { store, dataDir, allowGit, gateway, compute, clock, log, lookEveryMs = 30_000 } = settings;
  const { workDir = dataDir } = settings;
  const stopping = new AbortController();
  const retrying = retryPolicy(clock, stopping.signal, log);
  const tools: Tools = {
    store,
    dataDir,
    builds: {
      dataDir: workDir,
      allowGit,
      clock,
      ...(settings.buildBounds ? { bounds: settings.buildBounds } : {}),
      ...(settings.makeRoom ? { makeRoom: settings.makeRoom } : {}),
    },
    buildSlots: slots(settings.buildsAtOnce ?? 2),
    compute,
    ensureDatabase: ensureOn(settings.adminDatabaseUrl, settings.wayToDatabase),
    live: liveAgents({
      compute,
      gateway,
      clock,
      lettingGoMs: settings.lettingGoMs ?? 600_000,
      repair: (spec, signal) => repairLive(spec, signal, tools),
      exitHandlers: agentExitHandlers({ store, retrying, inBackground }),
    }),
    retrying,
    logs: logBook({ store, clock, log }),
    ...(settings.userOf ? { userOf: settings.userOf } : {}),
    ...(settings.step ? { step: settings.step } : {}),
    ...(settings.cloning ? { cloning: settings.cloning } : {}),
    ...(settings.tracing ? { tracing: settings.tracing } : {}),
  };
  const databases = { store, retrying, usable: () => usableAgentDatabases(settings.adminDatabaseUrl) };
  const working = new Map<string, Promise<void>>();
  const restartedAgain = new Set<string>();
  const atWork = new Map<string, { revisionId: string; letGo: AbortController }>();
  const background = new Set<Promise<void>>();
  const unserved = attempts(clock, lookEveryMs);
  const undeleted = attempts(clock, lookEveryMs);
  let recovered = false;

  /** Runs work to its end; logs its errors. */
  function atTheEdge(what: string, work: () => Promise<void>): Promise<void> {
    return work().catch((error: unknown) => {
      if (!stopping.signal.aborted) log(`${what} failed: ${stackOf(error)}`);
    });
  }

  function inBackground(what: string, work: () => Promise<void>): void {
    const kept: Promise<void> = atTheEdge(what, work).finally(() => background.delete(kept));
    background.add(kept);
  }

  async function workOn(deploymentId: string): Promise<void> {
    do {
      restartedAgain.delete(deploymentId);
      const revision = await retrying(() => nextRevision(store, deploymentId));
      const deployment = await retrying(() => store.deployment(deploymentId));
      if (deployment && deployment.deletion !== 'none') return removeOne(deployment);
      if (!revision || !deployment) continue;
      await carryOutOne(deployment, revision);
      restartedAgain.add(deploymentId);
    } while (restartedAgain.has(deploymentId) && !stopping.signal.aborted);
  }

  async function carryOutOne(deployment: DeploymentRecord, revision: RevisionRecord): Promise<void> {
    const letGo = new AbortController();
    atWork.set(deployment.id, { revisionId: revision.id, letGo });
    const job = undertake(deployment, revision, AbortSignal.any([letGo.signal, stopping.signal]), tools);
    try {
      await carryOut(job, tools);
      await clearOldBuilds(deployment.id, { store, retrying, workDir, clock, log });
    } catch (error) {
      if (stopping.signal.aborted) return;
      // An unforeseen error may quote secrets.
      const mask = maskOf(revision.secrets.map(({ value }) => value));
      const [message, stack] = error instanceof Error ? [error.message, error.stack ?? ''] : [String(error), ''];
      log(`Revision ${revision.id} could not be carried out: ${mask(stack === '' ? message : stack)}`);
      const words = mask(wordsForTenant(error));
      await failAnyway(job, `The service could not carry this revision out: ${words}`, tools);
    } finally {
      atWork.delete(deployment.id);
      await job.buildLog.flush();
    }
  }

  /** Continues a deletion. Stores an error where the deployment is read, and retries later. */
  async function removeOne(deployment: DeploymentRecord): Promise<void> {
    const { id } = deployment;
    try {
      await carryOutDeletion(deployment, {
        ...tools,
        workDir,
        adminDatabaseUrl: settings.adminDatabaseUrl,
        cutAfterMs: settings.cutAfterMs ?? 10_000,
        log,
      });
      undeleted.done(id);
      unserved.done(id);
    } catch (error) {
      if (stopping.signal.aborted) return;
      undeleted.failed(id);
      log(`Deployment ${id} could not be deleted: ${stackOf(error)}`);
      await retrying(() => store.noteDeletionProblem(id, wordsForTenant(error)));
    }
  }

  /** Queues a revision that was requested while another one is being carried out. */
  async function queueUp(deploymentId: string): Promise<void> {
    const claimed = await retrying(() => store.claimNextRevision(deploymentId));
    if (claimed) wake(deploymentId);
  }

  function wake(deploymentId: string): void {
    if (!recovered || stopping.signal.aborted) return;
    if (working.has(deploymentId)) {
      restartedAgain.add(deploymentId);
      inBackground('Queueing a revision', () => queueUp(deploymentId));
      return;
    }
    begin(deploymentId, async () => undefined);
  }

  function begin(deploymentId: string, first: () => Promise<void>): void {
    const work = async (): Promise<void> => {
      await atTheEdge(`Serving deployment ${deploymentId} again`, first);
      await atTheEdge(`The work on deployment ${deploymentId}`, () => workOn(deploymentId));
      working.delete(deploymentId);
      if (restartedAgain.delete(deploymentId)) wake(deploymentId);
    };
    working.set(deploymentId, work());
  }

  async function wakeAll(): Promise<void> {
    for (const id of await retrying(() => store.deploymentsWithWork())) if (!working.has(id)) wake(id);
    const toDelete = await retrying(() => store.deletionsToCarryOut());
    for (const id of toDelete) if (!working.has(id) && undeleted.isDue(id)) wake(id);
  }

  async function lookAgain(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(clock, lookEveryMs, stopping.signal);
      if (stopping.signal.aborted) return;
      await atTheEdge('Serving live revisions', serveAll);
      await atTheEdge("Looking at the agents' databases", () => lookAtDatabases(databases));
      await atTheEdge('Looking for work', wakeAll);
    }
  }

  /** Starts the agents of live revisions without supervision: at the start all of them, later those that failed. */
  async function serveAll(): Promise<void> {
    for (const { deployment, revision } of await retrying(() => store.activeRevisions())) {
      const { id } = deployment;
      if (tools.live.looksAfter(id) || working.has(id) || !unserved.isDue(id)) continue;
      begin(id, () => serveAgain(deployment, revision));
    }
  }

  async function serveAgain(deployment: DeploymentRecord, revision: RevisionRecord): Promise<void> {
    unserved.failed(deployment.id);
    const job = undertake(deployment, revision, stopping.signal, tools);
    const program = await liveProgram(job, tools);
    if (!program) return;
    job.deployLog.write('info', 'The service was started again; starting the agent.');
    tools.live.revive(await agentSpec(job, program, tools));
    unserved.done(deployment.id);
  }

  return {
    wake,
    interrupted(deploymentId, revisionId) {
      const work = atWork.get(deploymentId);
      if (work?.revisionId === revisionId) work.letGo.abort();
    },
    // Before the list of live deployments is read, any may be live.
    isStarting: (deploymentId) => !recovered || tools.live.looksAfter(deploymentId),
    async recover() {
      const left = await killLeftBehind(buildsIn(workDir), clock);
      if (left > 0) log(`${left} processes of builds and agents that an earlier service left behind were ended.`);
      const named = new Set((await retrying(() => store.namedBuilds())).map((build) => basename(build)));
      for (const id of buildsThere(workDir)) if (!named.has(id)) await cleanUp(buildFolder(workDir, id).root, log);
      await retrying(() => store.renameDatabases(log));
      await serveAll();
      recovered = true;
      await wakeAll();
      inBackground('Looking for work', lookAgain);
    },
    async stop(withinMs = 9_000) {
      stopping.abort();
      await Promise.all([tools.live.stop(withinMs), ...working.values(), ...background]);
      // An agent may have started at this very moment.
      await tools.live.stop(0);
      await tools.logs.flush();
    },
  };
}
