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
import { removeBrokenOff, removePod, startPod, type Pod } from './container/pod.ts';
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
  /** Records which deployments had containers or volumes. */
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

const usualBuildImage = 'docker.io/library/node:24-bookworm-slim';

const noPython =
  'Graphs of this agent are in Python, and the usual image of builds in containers has Node.js alone. Start the service without --compute container, or with a --container-image that has Python where this machine has it.';

type FoundEngine = { ok: true; engine: Engine; networks: ContainerNetworks } | NoEngine;

/**
 * Runs every agent as a container of Docker or Podman, which is detected on first use; that also removes what an
 * earlier process of this service left. Secrets go through a pipe. The agent listens on this machine's loopback, and is
 * removed with everything that belongs to it when it ends.
 */
export function containerCompute(settings: ContainerComputeDependencies) {
  const { clock, log, serviceId, program, buildImage = usualBuildImage } = settings;
  const used = usedBy(settings.usedDir);
  const { startWithinMs = 120_000, drainMs = 30_000, privateWebhooks = false } = settings;
  const { issueToken = createAgentTokens().issue } = settings;
  let looking: Promise<FoundEngine> | undefined;

  async function findAndClean(): Promise<FoundEngine> {
    const seen = await findEngine(settings);
    if (!seen.ok) return seen;
    const { engine } = seen;
    const mine = `${serviceLabel}=${serviceId}`;
    const left = await removeLabelled(engine, mine);
    if (left > 0) {
      log.info(`Removed ${left} ${left === 1 ? 'container' : 'containers'} that an earlier service left behind.`);
    }
    const networks = containerNetworks(engine, `landfall-${serviceId}`, [`--label=${mine}`], settings.databaseFolder);
    return { ok: true, engine, networks };
  }

  /** The engine, detected on first use; first removes what a killed service left. */
  async function findOnce(): Promise<FoundEngine> {
    const search = (looking ??= findAndClean().catch((error: unknown): NoEngine => {
      if (error instanceof EngineRefusal) return { ok: false, reason: error.message, installed: true };
      throw error;
    }));
    const found = await search;
    // An engine that fails now may work later.
    if (!found.ok && looking === search) looking = undefined;
    return found;
  }

  async function podOf(spec: AgentSpec, { engine, networks }: Exclude<FoundEngine, NoEngine>): Promise<Pod> {
    const run = randomBytes(5).toString('hex');
    const token = issueToken(spec.deploymentId);
    const way = await networks.wayFor(spec);
    const user = spec.user ?? (engine.facts.rootless ? undefined : ownUser());
    const facts = { token, drainMs, privateWebhooks, reached: way.reached, buildImage, program, user };
    const planned = planPod(spec, mainProgram(spec, facts), run);
    if (!planned.ok) throw new EngineRefusal(`This machine can't run these containers. ${planned.problems.join(' ')}`);
    const mask = maskOf([...specSecrets(spec, token), way.reached.databaseUrl]);
    const { plan } = planned;
    return { engine, clock, spec, plan, run, serviceId, token, way, mask, startWithinMs, drainMs, made: [] };
  }

  return {
    async start(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
      if (spec.program.kind === 'build' && spec.program.python !== undefined && settings.buildImage === undefined)
        return { kind: 'failed', reason: noPython };
      const seen = await findOnce();
      if (!seen.ok) return { kind: 'failed', reason: seen.reason };
      let pod: Pod | undefined;
      try {
        if (spec.program.kind === 'build') await openFolders(spec.program, spec.user);
        pod = await podOf(spec, seen);
        await used.note(spec.deploymentId);
        for (const note of pod.plan.notes) spec.log('warning', note);
        const start = await startPod(pod, signal);
        return signal.aborted && start.kind === 'failed' ? brokenOff : start;
      } catch (error) {
        if (pod) await (signal.aborted ? removeBrokenOff(pod) : removePod(pod));
        if (signal.aborted) return brokenOff;
        if (error instanceof EngineRefusal) return { kind: 'failed', reason: error.message };
        throw error;
      }
    },
    /** @throws EngineRefusal when an installed engine does not respond, or refuses. A missing one is only reported. */
    async remove({ id }: RemovedDeployment): Promise<void> {
      if (!used.has(id)) return;
      const seen = await findOnce();
      if (seen.ok) {
        const label = `${deploymentLabel}=${id}`;
        await removeLabelled(seen.engine, label);
        await removeVolumes(seen.engine, label);
      } else if (seen.installed) {
        throw new EngineRefusal(`Its containers and volumes are still there. ${seen.reason}`);
      } else {
        log.warn(`What deployment ${id} had in containers and volumes may still be there. ${seen.reason}`);
      }
      await used.forget(id);
    },
    async problem(): Promise<string | undefined> {
      const seen = await findOnce();
      return seen.ok ? undefined : seen.reason;
    },
    async close(): Promise<void> {
      const seen = await looking;
      if (seen?.ok) await seen.networks.close();
    },
  };
}
export type ContainerCompute = ReturnType<typeof containerCompute>;

const brokenOff: AgentStart = { kind: 'failed', reason: 'The start was aborted.' };

function ownUser(): ProcessUser | undefined {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/** Records which deployments an engine created something for, across restarts: an empty file per deployment id. */
function usedBy(folder: string) {
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
