import { withoutFullStop } from '../../../kit/plain-text.ts';
import { pause, untilAborted, withTimeout, type Clock } from '../../../kit/clock.ts';
import type { AgentSpec, AgentStart, Compute, RunningAgent } from '../compute/compute.ts';
import { lastLogMessages } from '../compute/log-line.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AgentRoute } from '../gateway/agent-route.ts';
import {
  type AgentExitHandlers,
  type AgentFailure,
  mostBreakdowns,
  restartDelay,
  healthyAfterMs,
  tenantErrorMessage,
} from './agent-exits.ts';
import { createSemaphore } from './semaphore.ts';

/** `whole` needed nothing; `broken` has the reason, for a person, why the build is still damaged. */
export type Repair = { kind: 'whole' | 'repaired' } | { kind: 'broken'; reason: string };

interface LiveAgentsSettings {
  compute: Compute;
  gateway: Pick<Gateway, 'switchTo' | 'withdraw' | 'live'>;
  clock: Clock;
  /** How long requests in flight on a former process may take (ms). */
  drainMs: number;
  /** Repairs the damaged build of a failed agent. */
  repair?: (spec: AgentSpec, signal: AbortSignal) => Promise<Repair>;
  exitHandlers?: AgentExitHandlers;
}

/** How an agent's service ended, and whether it had served for long enough before. */
interface AgentExit extends AgentFailure {
  wasWell: boolean;
}

interface SupervisedAgent {
  spec: AgentSpec;
  /** Live before this service started: its record may still have a failure from then. */
  wasLive: boolean;
  leaving: AbortController;
  agent: RunningAgent | undefined;
  /** Whether its build was repaired since it last served well: only once, as an agent can damage its own build. */
  repaired: boolean;
  watched: Promise<void>;
}

interface DrainingAgent {
  deploymentId: string;
  /** Aborts when requests in flight must be cut. */
  hurry: AbortController;
  left: Promise<void>;
}

/** The most concurrent restarts: after a restart of this service all agents start. */
const startsAtOnce = 4;

/** The live agents: one per deployment, restarted on failure up to a limit. */
export function liveAgents({ compute, gateway, clock, drainMs, repair, exitHandlers }: LiveAgentsSettings) {
  const startSlots = createSemaphore(startsAtOnce);
  const supervised = new Map<string, SupervisedAgent>();
  const retiring = new Set<DrainingAgent>();
  const leaving = new Set<RunningAgent>();
  let stopWithin: number | undefined;
  let isLate = false;

  /** Supervises an agent, or starts it if there is none yet. */
  function supervise(spec: AgentSpec, agent?: RunningAgent): SupervisedAgent {
    const entry = { spec, wasLive: !agent, leaving: new AbortController(), agent, repaired: false };
    const supervising: SupervisedAgent = { ...entry, watched: Promise.resolve() };
    supervising.watched = watch(supervising);
    supervised.set(spec.deploymentId, supervising);
    return supervising;
  }

  /** Until it is stopped: restarts a failed one with backoff, and gives up after too many failures in a row. */
  async function watch(entry: SupervisedAgent): Promise<void> {
    const { spec } = entry;
    const { signal } = entry.leaving;
    for (let breakdowns = 0; !signal.aborted;) {
      const ended = entry.agent ? await serve(entry, entry.agent, breakdowns > 0) : await startAgain(entry);
      if (signal.aborted) return;
      if (ended === 'started') continue;
      const serving = await repaired(entry, ended);
      if (signal.aborted) return;
      breakdowns = serving.wasWell ? 1 : breakdowns + 1;
      if (breakdowns >= mostBreakdowns) return giveUp(entry, breakdowns, serving);
      const wait = restartDelay(breakdowns);
      spec.log('error', `${inASentence(serving.how)} Restarting it in ${wait / 1_000} s.`);
      exitHandlers?.brokeDown(spec, breakdowns, serving);
      await pause(clock, wait, signal);
    }
  }

  async function startAgain(entry: SupervisedAgent): Promise<'started' | AgentExit> {
    const { spec } = entry;
    const start = await startAgent(spec, entry.leaving.signal);
    if (start.kind === 'failed') return { how: withoutFullStop(start.reason), said: start.said ?? [], wasWell: false };
    entry.agent = start.agent;
    if (supervised.get(spec.deploymentId) === entry) {
      gateway.switchTo(spec.deploymentId, start.agent);
      spec.log('info', 'The agent serves.');
    }
    return 'started';
  }

  async function repaired(entry: SupervisedAgent, ended: AgentExit): Promise<AgentExit> {
    if (ended.wasWell) entry.repaired = false;
    if (!repair || entry.repaired) return ended;
    const done = await repair(entry.spec, entry.leaving.signal).catch((error: unknown): Repair => {
      return { kind: 'broken', reason: `Its build could not be checked: ${tenantErrorMessage(error)}` };
    });
    entry.repaired = done.kind === 'repaired';
    return done.kind === 'broken' ? { ...ended, how: withoutFullStop(done.reason) } : ended;
  }

  async function serve(entry: SupervisedAgent, agent: RunningAgent, brokeDown: boolean): Promise<AgentExit> {
    const { spec } = entry;
    const over = new AbortController();
    const both = AbortSignal.any([over.signal, entry.leaving.signal]);
    let wasWell = false;
    const noteHealthy = async (): Promise<void> => {
      await pause(clock, healthyAfterMs, both);
      if (both.aborted) return;
      wasWell = true;
      if (brokeDown || entry.wasLive) exitHandlers?.isWell(spec);
    };
    void noteHealthy();
    const how = await Promise.race([agent.exited, untilAborted(entry.leaving.signal)]);
    over.abort();
    if (how === undefined || entry.leaving.signal.aborted) return { how: '', said: [], wasWell };
    if (gateway.live(spec.deploymentId)?.origin === agent.origin) gateway.withdraw(spec.deploymentId)?.close();
    entry.agent = undefined;
    return { how, said: agent.said?.() ?? [], wasWell };
  }

  function giveUp(entry: SupervisedAgent, times: number, breakdown: AgentFailure): void {
    const { spec } = entry;
    if (supervised.get(spec.deploymentId) === entry) supervised.delete(spec.deploymentId);
    spec.log('error', `${inASentence(breakdown.how)} It broke down ${times} times in a row and is not started again.`);
    exitHandlers?.givenUp(spec, times, breakdown);
  }

  async function startAgent(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
    const giveBack = await startSlots.take(signal, spec.deploymentId);
    try {
      await exitHandlers?.ready(spec);
      return await compute.start(spec, signal);
    } catch (error) {
      // Every error of a start is retried.
      const why = withoutFullStop(tenantErrorMessage(error));
      return { kind: 'failed', reason: `The agent could not be started: ${why}.` };
    } finally {
      giveBack?.();
    }
  }

  /** Stops an agent once nothing is in flight on it, or after a timeout. */
  async function retire(entry: SupervisedAgent, route: AgentRoute | undefined, hurry: AbortSignal): Promise<void> {
    entry.leaving.abort();
    await entry.watched;
    if (route) {
      await withTimeout(clock, drainMs, (late) => Promise.race([route.drained(), untilAborted(late)]), hurry);
      route.close();
    }
    if (!entry.agent) return;
    leaving.add(entry.agent);
    await entry.agent.stop(stopWithin);
    leaving.delete(entry.agent);
    entry.spec.log('info', entry.agent.isIdle?.() ? lastLogMessages.idle : lastLogMessages.stopped);
  }

  function inBackground(entry: SupervisedAgent, route: AgentRoute | undefined): void {
    const hurry = new AbortController();
    const leaves: DrainingAgent = { deploymentId: entry.spec.deploymentId, hurry, left: Promise.resolve() };
    leaves.left = retire(entry, route, hurry.signal).finally(() => retiring.delete(leaves));
    if (isLate) hurry.abort();
    retiring.add(leaves);
  }

  const leftBehind = (leaves: Iterable<DrainingAgent>): Promise<unknown> =>
    Promise.all([...leaves].map(({ left }) => left));

  /** Shortens the time of agents that were already draining. */
  async function stopLate(inTime: AbortSignal, ms: number): Promise<void> {
    await pause(clock, ms, inTime);
    isLate = true;
    for (const leaves of retiring) leaves.hurry.abort();
    if (!inTime.aborted) await Promise.all([...leaving].map((agent) => agent.stop(ms)));
  }

  return {
    /** Sends new requests to a running agent from now on. The switch can be committed or undone. */
    switchTo(spec: AgentSpec, agent: RunningAgent) {
      const { deploymentId } = spec;
      const former = supervised.get(deploymentId);
      const formerRoute = gateway.switchTo(deploymentId, agent);
      const entry = supervise(spec, agent);
      return {
        /** Commits: drains and stops the former agent, in the background. */
        settle(): void {
          if (!former) return;
          former.spec.log('info', 'Traffic has switched to a newer revision; the agent is draining.');
          inBackground(former, formerRoute);
        },
        /** Switches back to the former agent, if any, and stops the new one, in the background. */
        undo(): void {
          const route = former?.agent ? gateway.switchTo(deploymentId, former.agent) : gateway.withdraw(deploymentId);
          if (former) supervised.set(deploymentId, former);
          else supervised.delete(deploymentId);
          inBackground(entry, route);
        },
      };
    },
    /** Starts and supervises the agent of a live revision, unless one serves. Returns at once. */
    superviseLive(spec: AgentSpec): void {
      if (!supervised.has(spec.deploymentId)) supervise(spec);
    },
    /** Whether a deployment has an agent that serves or is being restarted. */
    isSupervised: (deploymentId: string): boolean => supervised.has(deploymentId),
    /** Starts the agent of a deployment next, where many wait for their start. */
    startNext: (deploymentId: string): void => startSlots.prefer(deploymentId),
    /** Stops every agent of a deployment, draining ones included. Cuts requests in flight after `withinMs`. */
    async release(deploymentId: string, withinMs: number): Promise<void> {
      const entry = supervised.get(deploymentId);
      supervised.delete(deploymentId);
      if (entry) inBackground(entry, gateway.withdraw(deploymentId));
      const own = [...retiring].filter((leaves) => leaves.deploymentId === deploymentId);
      await withTimeout(clock, withinMs, (late) => {
        void untilAborted(late).then(() => own.forEach(({ hurry }) => hurry.abort()));
        return leftBehind(own);
      });
    },
    /** Stops every agent within `withinMs`: half for requests in flight, half for the agents to exit. */
    async stop(withinMs: number): Promise<void> {
      const inTime = new AbortController();
      const forRequests = withinMs / 2;
      stopWithin = withinMs - forRequests;
      const late = stopLate(inTime.signal, forRequests);
      for (const entry of supervised.values()) inBackground(entry, gateway.withdraw(entry.spec.deploymentId));
      supervised.clear();
      while (retiring.size > 0) await leftBehind(retiring);
      inTime.abort();
      await late;
    },
  };
}

export type LiveAgents = ReturnType<typeof liveAgents>;

/** The reason is either a few words about the process or a whole sentence of the compute. */
const inASentence = (how: string): string => (/^[A-Z]/.test(how) ? `${how}.` : `The agent's process ended: ${how}.`);
