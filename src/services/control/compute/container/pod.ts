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
  endInWords,
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
  run: string;
  serviceId: string;
  token: string;
  way: NetworkAccess;
  mask: Mask;
  startWithinMs: number;
  drainMs: number;
  made: CreatedContainer[];
}

const portPollMs = 100;
/** Time beyond the stop timeout, for the engine's own steps. */
const engineStepsMs = 10_000;

/**
 * Creates and starts a pod: its volumes, its init containers one after the other, the main container, and the sidecars.
 * An abort or an error leaves what was created: call `removePod`. @throws EngineRefusal
 */
export async function startPod(pod: Pod, signal: AbortSignal): Promise<AgentStart> {
  const { engine, clock, spec, plan, mask, way, token, startWithinMs } = pod;
  for (const volume of [...plan.volumes, ...plan.passing]) await makeVolume(pod, volume);
  for (const init of plan.init) {
    const end = await runToItsEnd(pod, await make(pod, init, way.network, signal), signal);
    if (!signal.aborted && end !== finished) throw new EngineRefusal(`The init container ${init.name} failed: ${end}.`);
  }
  const excerpt = outputExcerpt();
  const write: WriteLine = (level, line) => {
    excerpt.add(level, line);
    spec.log(level, line);
  };
  const main = await make(pod, plan.main, way.network, signal);
  await way.open(main.name);
  const following = startAndFollow(engine, main, { write, mask, clock });
  const ended = following.ended.then(async () => {
    await following.saidAll;
    return endInWords(await stateOf(engine, main.name), memoryBound(spec).totalMb);
  });
  const tooLate = new AbortController();
  const bound = AbortSignal.any([signal, tooLate.signal]);
  const late = pause(clock, startWithinMs, bound).then(() => tooLate.abort());
  const started = await Promise.race([ended.then((how) => ({ how })), untilHealthy(pod, main, bound)]);
  const wasInTime = !bound.aborted;
  tooLate.abort();
  await late;
  if (started && 'origin' in started) return { kind: 'running', agent: agentAt(started.origin) };

  await (wasInTime ? removePod(pod) : removeBrokenOff(pod));
  const how = await ended;
  const reason = wasInTime
    ? `The agent's container ended before it was healthy: ${started?.how ?? how}.`
    : `The agent did not become healthy within ${startWithinMs / 1_000} s.`;
  return failedStart(reason, excerpt);

  function agentAt(origin: string): RunningAgent {
    const gone = ended.then(() => removePod(pod));
    const stop = async (withinMs = pod.drainMs): Promise<void> => {
      const seconds = String(Math.max(Math.floor(withinMs / 1_000), 0));
      const names = pod.made.filter((made) => !plan.init.includes(made.plan)).map(({ name }) => name);
      const { code } = await engine.run(['stop', '-t', seconds, ...names], { withinMs: withinMs + engineStepsMs });
      if (code !== 0) await removePod(pod);
      await gone;
    };
    return { origin, token, stop, exited: ended, lastLines: excerpt.lines };
  }
}

/** Removes everything of a pod, running or not; keeps what belongs to the deployment. */
export async function removePod({ engine, made, plan }: Pod): Promise<void> {
  // Containers in another one's network are removed before it.
  await removeContainers(engine, made.map(({ name }) => name).toReversed());
  if (plan.passing.length > 0) await engine.run(['volume', 'rm', '--force', ...plan.passing]);
}

/** How long an aborted engine command may still take effect, in milliseconds. */
const settlesWithinMs = 500;

/** Removes a pod whose creation was aborted, including what the engine created after the abort. */
export async function removeBrokenOff(pod: Pod): Promise<void> {
  await removePod(pod);
  await pause(pod.clock, settlesWithinMs);
  await removePod(pod);
}

const finished = 'exit code 0';

const ownLabels = ({ serviceId, spec }: Pod): string[] => [
  `--label=${serviceLabel}=${serviceId}`,
  `--label=${deploymentLabel}=${spec.deploymentId}`,
];

async function make(pod: Pod, plan: ContainerPlan, network: readonly string[], signal: AbortSignal) {
  const { engine, spec, run } = pod;
  const name = `landfall-${spec.name}-${run}${plan === pod.plan.main ? '' : `-${plan.name}`}`;
  const flags = [...ownLabels(pod), `--label=landfall.revision=${spec.revisionId}`, ...network];
  // Recorded first: the engine may create it even if the call is aborted.
  pod.made.push({ name, plan });
  return createContainer(engine, { name, plan, flags }, signal);
}

/** Waits for the container's port, starts the sidecars, and waits until the agent is healthy. */
async function untilHealthy(pod: Pod, main: CreatedContainer, bound: AbortSignal) {
  const { engine, clock, plan, spec, mask, token } = pod;
  let port: number | undefined;
  while (!bound.aborted && port === undefined) {
    port = await publishedPort(engine, main.name, portInside);
    if (port === undefined) await pause(clock, portPollMs, bound);
  }
  for (const sidecar of plan.sidecars) {
    if (bound.aborted) return undefined;
    const made = await make(pod, sidecar, [`--network=container:${main.name}`], bound);
    startAndFollow(engine, made, { write: named(spec.log, sidecar.name), mask, clock });
  }
  const origin = `http://127.0.0.1:${port}`;
  return port !== undefined && (await becomesHealthy({ origin, token }, clock, bound)) ? { origin } : undefined;
}

async function runToItsEnd(pod: Pod, made: CreatedContainer, signal: AbortSignal): Promise<string> {
  const { engine, clock, spec, mask } = pod;
  const excerpt = outputExcerpt();
  const writeLine = named(spec.log, made.plan.name);
  const write: WriteLine = (level, line) => {
    excerpt.add(level, line);
    writeLine(level, line);
  };
  const following = startAndFollow(engine, made, { write, mask, clock });
  const stop = (): void => void removeContainers(engine, [made.name]);
  signal.addEventListener('abort', stop, { once: true });
  await following.ended;
  signal.removeEventListener('abort', stop);
  await following.saidAll;
  const end = endInWords(await stateOf(engine, made.name), undefined);
  const cause = excerpt.cause();
  return end === finished || cause === undefined ? end : `${end}. Its last line: ${cause}`;
}

async function makeVolume(pod: Pod, volume: string): Promise<void> {
  const { engine, plan } = pod;
  if ((await engine.run(['volume', 'inspect', volume])).code === 0) return;
  const { code, complaint } = await engine.run(['volume', 'create', ...plan.labels, ...ownLabels(pod), volume]);
  if (code !== 0) throw new EngineRefusal(`The volume ${volume} could not be made (${engine.name}: ${complaint}).`);
}

/** Lines of a sidecar are prefixed with its name. */
const named =
  (write: WriteLine, name: string): WriteLine =>
  (level, line) =>
    write(level, `[${name}] ${line}`);
