import { pause, type Clock } from '../../../../kit/clock.ts';
import type { Mask } from '../../../../contract/masking/mask.ts';
import type { AgentSpec, AgentStart, RunningAgent } from '../compute.ts';
import { becomesHealthy } from '../../gateway/request-agent.ts';
import { failedStart, outputExcerpt } from '../output-excerpt.ts';
import type { WriteLine } from '../log-line.ts';
import { memoryBound } from '../memory-bound.ts';
import {
  createContainer,
  deploymentLabel,
  describeEnd,
  EngineRefusal,
  publishedPort,
  removeContainers,
  serviceLabel,
  startAndFollow,
  stateOf,
  type CreatedContainer,
} from './containers.ts';
import type { Engine } from './engine.ts';
import { portInside } from './main-program.ts';
import type { NetworkAccess } from './networks.ts';
import type { ContainerPlan, PodPlan } from './plan.ts';

/** The containers of one start of a revision: they start and end together. */
export interface Pod {
  engine: Engine;
  clock: Clock;
  spec: AgentSpec;
  plan: PodPlan;
  /** Identifies this start. */
  startId: string;
  serviceId: string;
  token: string;
  access: NetworkAccess;
  mask: Mask;
  startWithinMs: number;
  drainMs: number;
  containers: CreatedContainer[];
}

const portPollMs = 100;
/** Time beyond the stop timeout, for the engine's own steps. */
const engineStepsMs = 10_000;

/**
 * Creates and starts a pod: its volumes, the init containers one after the other, the main container, and the sidecars.
 * After an abort or an error, call `removePod` for what was created. @throws EngineRefusal
 */
export async function startPod(pod: Pod, signal: AbortSignal): Promise<AgentStart> {
  const { engine, clock, spec, plan, mask, access, token, startWithinMs } = pod;
  for (const volume of [...plan.volumes, ...plan.runVolumes]) await ensureVolume(pod, volume);
  for (const init of plan.init) {
    const end = await runToItsEnd(pod, await createAndRecord(pod, init, access.network, signal), signal);
    if (!signal.aborted && end !== successfulEnd)
      throw new EngineRefusal(`The init container ${init.name} failed: ${end}.`);
  }
  const excerpt = outputExcerpt();
  const write: WriteLine = (level, line) => {
    excerpt.add(level, line);
    spec.log(level, line);
  };
  const main = await createAndRecord(pod, plan.main, access.network, signal);
  await access.open(main.name);
  const following = startAndFollow(engine, main, { write, mask, clock });
  const ended = following.ended.then(async () => {
    await following.logged;
    return describeEnd(await stateOf(engine, main.name), memoryBound(spec).totalMb);
  });
  const timeout = new AbortController();
  const startSignal = AbortSignal.any([signal, timeout.signal]);
  const timer = pause(clock, startWithinMs, startSignal).then(() => timeout.abort());
  const firstEvent = await Promise.race([ended.then((how) => ({ how })), untilHealthy(pod, main, startSignal)]);
  const wasInTime = !startSignal.aborted;
  timeout.abort();
  await timer;
  if (firstEvent && 'origin' in firstEvent) return { kind: 'running', agent: agentAt(firstEvent.origin) };

  await (wasInTime ? removePod(pod) : removeAbortedPod(pod));
  const how = await ended;
  const reason = wasInTime
    ? `The agent's container ended before it was healthy: ${firstEvent?.how ?? how}.`
    : `The agent did not become healthy within ${startWithinMs / 1_000} s.`;
  return failedStart(reason, excerpt);

  function agentAt(origin: string): RunningAgent {
    const removal = ended.then(() => removePod(pod));
    const stop = async (withinMs = pod.drainMs): Promise<void> => {
      const seconds = String(Math.max(Math.floor(withinMs / 1_000), 0));
      const names = pod.containers.filter((container) => !plan.init.includes(container.plan)).map(({ name }) => name);
      const { code } = await engine.run(['stop', '-t', seconds, ...names], { withinMs: withinMs + engineStepsMs });
      if (code !== 0) await removePod(pod);
      await removal;
    };
    return { origin, token, stop, exited: ended, lastLines: excerpt.lines };
  }
}

/** Removes the containers of a pod, running or not, and its run's volumes. The deployment's volumes stay. */
export async function removePod({ engine, containers, plan }: Pod): Promise<void> {
  // Remove the sidecars first: they use the main container's network.
  await removeContainers(engine, containers.map(({ name }) => name).toReversed());
  if (plan.runVolumes.length > 0) await engine.run(['volume', 'rm', '--force', ...plan.runVolumes]);
}

/** How long an aborted engine command may still take effect, in milliseconds. */
const abortedCommandMs = 500;

/** Removes a pod whose creation was aborted, including what the engine created after the abort. */
export async function removeAbortedPod(pod: Pod): Promise<void> {
  await removePod(pod);
  await pause(pod.clock, abortedCommandMs);
  await removePod(pod);
}

const successfulEnd = 'exit code 0';

const ownLabels = ({ serviceId, spec }: Pod): string[] => [
  `--label=${serviceLabel}=${serviceId}`,
  `--label=${deploymentLabel}=${spec.deploymentId}`,
];

async function createAndRecord(pod: Pod, plan: ContainerPlan, network: readonly string[], signal: AbortSignal) {
  const { engine, spec, startId } = pod;
  const name = `landfall-${spec.name}-${startId}${plan === pod.plan.main ? '' : `-${plan.name}`}`;
  const flags = [...ownLabels(pod), `--label=landfall.revision=${spec.revisionId}`, ...network];
  // Record it first: the engine may create it even if the call is aborted.
  pod.containers.push({ name, plan });
  return createContainer(engine, { name, plan, flags }, signal);
}

/** Waits for the container's port, starts the sidecars, and waits until the agent is healthy. */
async function untilHealthy(pod: Pod, main: CreatedContainer, startSignal: AbortSignal) {
  const { engine, clock, plan, spec, mask, token } = pod;
  let port: number | undefined;
  while (!startSignal.aborted && port === undefined) {
    port = await publishedPort(engine, main.name, portInside);
    if (port === undefined) await pause(clock, portPollMs, startSignal);
  }
  for (const sidecar of plan.sidecars) {
    if (startSignal.aborted) return undefined;
    const container = await createAndRecord(pod, sidecar, [`--network=container:${main.name}`], startSignal);
    startAndFollow(engine, container, { write: withPrefix(spec.log, sidecar.name), mask, clock });
  }
  const origin = `http://127.0.0.1:${port}`;
  return port !== undefined && (await becomesHealthy({ origin, token }, clock, startSignal)) ? { origin } : undefined;
}

async function runToItsEnd(pod: Pod, container: CreatedContainer, signal: AbortSignal): Promise<string> {
  const { engine, clock, spec, mask } = pod;
  const excerpt = outputExcerpt();
  const writeLine = withPrefix(spec.log, container.plan.name);
  const write: WriteLine = (level, line) => {
    excerpt.add(level, line);
    writeLine(level, line);
  };
  const following = startAndFollow(engine, container, { write, mask, clock });
  const stop = (): void => void removeContainers(engine, [container.name]);
  signal.addEventListener('abort', stop, { once: true });
  await following.ended;
  signal.removeEventListener('abort', stop);
  await following.logged;
  const end = describeEnd(await stateOf(engine, container.name), undefined);
  const cause = excerpt.cause();
  return end === successfulEnd || cause === undefined ? end : `${end}. Its last line: ${cause}`;
}

async function ensureVolume(pod: Pod, volume: string): Promise<void> {
  const { engine, plan } = pod;
  if ((await engine.run(['volume', 'inspect', volume])).code === 0) return;
  const { code, problem } = await engine.run(['volume', 'create', ...plan.labels, ...ownLabels(pod), volume]);
  if (code !== 0) throw new EngineRefusal(`The volume ${volume} could not be made (${engine.name}: ${problem}).`);
}

/** Prefixes the lines of a container with its name. */
const withPrefix =
  (write: WriteLine, name: string): WriteLine =>
  (level, line) =>
    write(level, `[${name}] ${line}`);
