import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../kit/clock.ts';
import { maskOf } from '../../../contract/masking/mask.ts';
import type { ProcessUser } from './guarded-process.ts';
import type { AgentProgramFiles } from '../isolation/program.ts';
import { specSecrets } from './agent-environment.ts';
import { createAgentTokens, type AgentTokens } from './agent-tokens.ts';
import type { AgentSpec, AgentStart, RemovedDeployment } from './compute.ts';
import { deploymentLabel, EngineRefusal, removeLabelled, removeVolumes, serviceLabel } from './container/containers.ts';
import { findEngine, type Engine, type EngineDependencies, type NoEngine } from './container/engine.ts';
import { mainProgram } from './container/main-program.ts';
import { containerNetworks, type ContainerNetworks } from './container/networks.ts';
import { planPod } from './container/plan.ts';
import { removeAbortedPod, removePod, startPod, type Pod } from './container/pod.ts';
import { openFolders } from '../isolation/change-owner.ts';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../../kit/logger.ts';

export interface ContainerComputeDependencies extends EngineDependencies {
  clock: Clock;
  log: Logger;
  /** Marks this service's containers, across restarts. */
  serviceId: string;
  /** The folder that records which deployments had containers or volumes. */
  usedDir: string;
  /** The folder of the socket through which containers reach an embedded database without a port. */
  databaseFolder?: string | undefined;
  program: AgentProgramFiles;
  /** The image that builds run in; an official one of Node.js when absent. */
  buildImage?: string | undefined;
  /** The timeout in milliseconds for an agent to become healthy once its container runs; two minutes when absent. */
  startWithinMs?: number;
  /** The milliseconds that an agent may take to drain when it is stopped; 30 s when absent. */
  drainMs?: number;
  /** Whether webhooks of agents may reach private networks; false when absent. */
  privateWebhooks?: boolean | undefined;
  /** Issues the tokens of agents. */
  issueToken?: AgentTokens['issue'];
}

const defaultBuildImage = 'docker.io/library/node:24-bookworm-slim';

const pythonMissing =
  'Graphs of this agent are in Python, and the usual image of builds in containers has Node.js alone. Start the service without --compute container, or with a --container-image that has Python where this machine has it.';

type FoundEngine = { ok: true; engine: Engine; networks: ContainerNetworks } | NoEngine;

/**
 * Runs every agent as a container of Docker or Podman. The first use detects the engine, and removes containers that an
 * earlier process of this service left. Secrets go through a pipe. The agent listens on this machine's loopback. When it
 * ends, everything that belongs to it is removed.
 */
export function containerCompute(settings: ContainerComputeDependencies) {
  const { clock, log, serviceId, program, buildImage = defaultBuildImage } = settings;
  const usedDeployments = recordUsedDeployments(settings.usedDir);
  const { startWithinMs = 120_000, drainMs = 30_000, privateWebhooks = false } = settings;
  const { issueToken = createAgentTokens().issue } = settings;
  let search: Promise<FoundEngine> | undefined;

  async function findAndCleanUp(): Promise<FoundEngine> {
    const found = await findEngine(settings);
    if (!found.ok) return found;
    const { engine } = found;
    const serviceLabelValue = `${serviceLabel}=${serviceId}`;
    const removedCount = await removeLabelled(engine, serviceLabelValue);
    if (removedCount > 0) {
      log.info(
        `Removed ${removedCount} ${removedCount === 1 ? 'container' : 'containers'} that an earlier service left behind.`,
      );
    }
    const networks = containerNetworks(
      engine,
      `landfall-${serviceId}`,
      [`--label=${serviceLabelValue}`],
      settings.databaseFolder,
    );
    return { ok: true, engine, networks };
  }

  /** Finds the engine on first use, and removes the containers that a killed service left. */
  async function findOnce(): Promise<FoundEngine> {
    const current = (search ??= findAndCleanUp().catch((error: unknown): NoEngine => {
      if (error instanceof EngineRefusal) return { ok: false, reason: error.message, installed: true };
      throw error;
    }));
    const found = await current;
    // An engine that fails now may work later.
    if (!found.ok && search === current) search = undefined;
    return found;
  }

  async function preparePod(spec: AgentSpec, { engine, networks }: Exclude<FoundEngine, NoEngine>): Promise<Pod> {
    const startId = randomBytes(5).toString('hex');
    const token = issueToken(spec.deploymentId);
    const access = await networks.accessFor(spec);
    const user = spec.user ?? (engine.facts.rootless ? undefined : ownUser());
    const facts = { token, drainMs, privateWebhooks, endpoints: access.endpoints, buildImage, program, user };
    const planning = planPod(spec, mainProgram(spec, facts), startId);
    if (!planning.ok)
      throw new EngineRefusal(`This machine can't run these containers. ${planning.problems.join(' ')}`);
    const mask = maskOf([...specSecrets(spec, token), access.endpoints.databaseUrl]);
    const { plan } = planning;
    return {
      engine,
      clock,
      spec,
      plan,
      startId,
      serviceId,
      token,
      access,
      mask,
      startWithinMs,
      drainMs,
      containers: [],
    };
  }

  return {
    async start(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
      if (spec.program.kind === 'build' && spec.program.python !== undefined && settings.buildImage === undefined)
        return { kind: 'failed', reason: pythonMissing };
      const found = await findOnce();
      if (!found.ok) return { kind: 'failed', reason: found.reason };
      let pod: Pod | undefined;
      try {
        if (spec.program.kind === 'build') await openFolders(spec.program, spec.user);
        pod = await preparePod(spec, found);
        await usedDeployments.note(spec.deploymentId);
        for (const note of pod.plan.notes) spec.log('warning', note);
        const start = await startPod(pod, signal);
        return signal.aborted && start.kind === 'failed' ? abortedStart : start;
      } catch (error) {
        if (pod) await (signal.aborted ? removeAbortedPod(pod) : removePod(pod));
        if (signal.aborted) return abortedStart;
        if (error instanceof EngineRefusal) return { kind: 'failed', reason: error.message };
        throw error;
      }
    },
    /** @throws EngineRefusal when an installed engine does not respond, or refuses. A missing one is only reported. */
    async remove({ id }: RemovedDeployment): Promise<void> {
      if (!usedDeployments.has(id)) return;
      const found = await findOnce();
      if (found.ok) {
        const label = `${deploymentLabel}=${id}`;
        await removeLabelled(found.engine, label);
        await removeVolumes(found.engine, label);
      } else if (found.installed) {
        throw new EngineRefusal(`Its containers and volumes are still there. ${found.reason}`);
      } else {
        log.warn(`What deployment ${id} had in containers and volumes may still be there. ${found.reason}`);
      }
      await usedDeployments.forget(id);
    },
    /** Why no engine can run containers; undefined where one can. */
    async problem(): Promise<string | undefined> {
      const found = await findOnce();
      return found.ok ? undefined : found.reason;
    },
    async close(): Promise<void> {
      const found = await search;
      if (found?.ok) await found.networks.close();
    },
  };
}
export type ContainerCompute = ReturnType<typeof containerCompute>;

const abortedStart: AgentStart = { kind: 'failed', reason: 'The start was aborted.' };

function ownUser(): ProcessUser | undefined {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/** Records which deployments an engine created something for, across restarts: an empty file per deployment id. */
function recordUsedDeployments(folder: string) {
  const fileOf = (deploymentId: string): string => join(folder, deploymentId);
  return {
    /** Call before anything is created for it. */
    async note(deploymentId: string): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(fileOf(deploymentId), '');
    },
    has: (deploymentId: string): boolean => existsSync(fileOf(deploymentId)),
    /** Call when nothing is left of it. */
    forget: (deploymentId: string): Promise<void> => rm(fileOf(deploymentId), { force: true }),
  };
}
