import { randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { ProcessUser } from './leashed-process.ts';
import type { AgentProgramFiles } from '../isolation/program.ts';
import { agentSecrets } from './agent-environment.ts';
import type { AgentSpec, AgentStart, Compute } from './compute.ts';
import { deploymentLabel, EngineRefusal, removeLabelled, serviceLabel } from './container/containers.ts';
import { findEngine, type Engine, type EngineSettings } from './container/engine.ts';
import { mainProgram } from './container/main-program.ts';
import { containerNetworks, type ContainerNetworks } from './container/networks.ts';
import { planPod } from './container/plan.ts';
import { removeBrokenOff, removePod, startPod, type Pod } from './container/pod.ts';
import { maskOf } from './mask.ts';
import { openFolders } from './open-folders.ts';

export interface ContainerComputeSettings extends EngineSettings {
  clock: Clock;
  log: (message: string) => void;
  /** Tells this service's containers from those of others, from one start to the next. */
  serviceId: string;
  /** The program that runs agents of builds. */
  program: AgentProgramFiles;
  /** The image that builds run in; an official one of Node.js when absent. */
  buildImage?: string | undefined;
  /** Milliseconds until an agent has to be healthy once its container runs; two minutes when absent. */
  startWithinMs?: number;
  /** Milliseconds that an agent has for finishing when it is stopped; 30 s when absent. */
  drainMs?: number;
}

/** Containers of this machine, with what they need besides. */
export interface ContainerCompute extends Compute {
  remove: NonNullable<Compute['remove']>;
  /** Looks whether an engine answers: undefined, or why none does. */
  problem(): Promise<string | undefined>;
  /** Closes what containers reach through this service. */
  close(): Promise<void>;
}

/** The image that builds run in where none is named. */
export const usualBuildImage = 'docker.io/library/node:24-bookworm-slim';

interface Equipment {
  engine: Engine;
  networks: ContainerNetworks;
}

type Look = ({ ok: true } & Equipment) | { ok: false; reason: string };

/**
 * Runs every agent as a container of Docker or Podman, which is looked for when one is asked for. Its limits, its init
 * containers, sidecars and volumes come from the `resource_spec`; secrets reach it by a pipe. It listens on a port of this
 * machine's loopback, and goes with all that belongs to it when it ends. The first use of the engine removes what an earlier
 * service left behind.
 */
export function containerCompute(settings: ContainerComputeSettings): ContainerCompute {
  const { clock, log, serviceId, program, buildImage = usualBuildImage } = settings;
  const { startWithinMs = 120_000, drainMs = 30_000 } = settings;
  let looking: Promise<Look> | undefined;

  async function lookAnew(): Promise<Look> {
    const seen = await findEngine(settings);
    if (!seen.ok) {
      // One that does not answer may do so later.
      looking = undefined;
      return seen;
    }
    const { engine } = seen;
    const mine = `${serviceLabel}=${serviceId}`;
    const left = await removeLabelled(engine, mine);
    if (left > 0) log(`${left} containers that an earlier service left behind were removed.`);
    return { ok: true, engine, networks: containerNetworks(engine, `landfall-${serviceId}`, [`--label=${mine}`]) };
  }

  /** The engine, looked for when it is needed first; what is left of a service that was killed goes before anything starts. */
  const look = (): Promise<Look> => (looking ??= lookAnew());

  async function podOf(spec: AgentSpec, { engine, networks }: Equipment): Promise<Pod> {
    const run = randomBytes(5).toString('hex');
    const token = randomBytes(32).toString('base64url');
    const way = await networks.wayFor(spec.databaseUrl);
    const user = spec.user ?? (engine.facts.rootless ? undefined : ownUser());
    const facts = { token, drainMs, databaseUrl: way.databaseUrl, buildImage, program, user };
    const planned = planPod(spec, mainProgram(spec, facts), run);
    if (!planned.ok) throw new EngineRefusal(`This machine can't run these containers. ${planned.problems.join(' ')}`);
    const mask = maskOf([...agentSecrets(spec, token), way.databaseUrl]);
    const { plan } = planned;
    return { engine, clock, spec, plan, run, serviceId, token, way, mask, startWithinMs, drainMs, made: [] };
  }

  return {
    async start(spec, signal): Promise<AgentStart> {
      const seen = await look();
      if (!seen.ok) return { kind: 'failed', reason: seen.reason };
      let pod: Pod | undefined;
      try {
        if (spec.program.kind === 'build') await openFolders(spec.program, spec.user);
        pod = await podOf(spec, seen);
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
    async remove({ id }) {
      const seen = await look();
      if (!seen.ok) return;
      const { engine } = seen;
      const label = `${deploymentLabel}=${id}`;
      await removeLabelled(engine, label);
      const { said } = await engine.run(['volume', 'ls', '--quiet', `--filter=label=${label}`]);
      const volumes = said.split(/\s+/).filter((name) => name !== '');
      if (volumes.length > 0) await engine.run(['volume', 'rm', '--force', ...volumes]);
    },
    async problem() {
      const seen = await look();
      return seen.ok ? undefined : seen.reason;
    },
    async close() {
      const seen = await looking;
      if (seen?.ok) await seen.networks.close();
    },
  };
}

const brokenOff: AgentStart = { kind: 'failed', reason: 'The start was broken off.' };

function ownUser(): ProcessUser | undefined {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}
