import { withoutFullStop } from '../../../kit/plain-text.ts';
import { pause, untilAborted, withTimeout, type Clock } from '../../../kit/clock.ts';
import type { AgentSpec, AgentStart, Compute, RunningAgent } from '../compute/compute.ts';
import { lastLogMessages } from '../compute/log-line.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AgentRoute } from '../gateway/agent-route.ts';
import {
  type AgentExitHandlers,
  type AgentFailure,
  maxBreakdowns,
  restartDelay,
  healthyAfterMs,
  tenantErrorMessage,
} from './agent-exits.ts';
import { createSemaphore } from './semaphore.ts';

/** `whole` needed nothing; `broken` has the reason, for a person, why the build is still damaged. */
export type Repair = { kind: 'whole' | 'repaired' } | { kind: 'broken'; reason: string };

interface LiveAgentsDependencies {
  compute: Compute;
  gateway: Pick<Gateway, 'switchTo' | 'withdraw' | 'live'>;
  clock: Clock;
  /** How long requests in flight on a former process may take (ms). */
  drainMs: number;
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
export class LiveAgents {
  readonly #by: LiveAgentsDependencies;
  readonly #startSlots = createSemaphore(startsAtOnce);
  readonly #supervised = new Map<string, SupervisedAgent>();
  readonly #retiring = new Set<DrainingAgent>();
  readonly #leaving = new Set<RunningAgent>();
  #stopWithin: number | undefined;
  #isLate = false;

  constructor(by: LiveAgentsDependencies) {
    this.#by = by;
  }

  /** Sends new requests to a running agent from now on. The switch can be committed or undone. */
  switchTo(spec: AgentSpec, agent: RunningAgent) {
    const { gateway } = this.#by;
    const { deploymentId } = spec;
    const former = this.#supervised.get(deploymentId);
    const formerRoute = gateway.switchTo(deploymentId, agent);
    const entry = this.#supervise(spec, agent);
    return {
      /** Commits: drains and stops the former agent, in the background. */
      settle: (): void => {
        if (!former) return;
        former.spec.log('info', 'Traffic has switched to a newer revision; the agent is draining.');
        this.#retireInBackground(former, formerRoute);
      },
      /** Switches back to the former agent, if any, and stops the new one, in the background. */
      undo: (): void => {
        const route = former?.agent ? gateway.switchTo(deploymentId, former.agent) : gateway.withdraw(deploymentId);
        if (former) this.#supervised.set(deploymentId, former);
        else this.#supervised.delete(deploymentId);
        this.#retireInBackground(entry, route);
      },
    };
  }

  /** Starts and supervises the agent of a live revision, unless one serves. Returns at once. */
  superviseLive(spec: AgentSpec): void {
    if (!this.isSupervised(spec.deploymentId)) this.#supervise(spec);
  }

  /** Whether a deployment has an agent that serves or is being restarted. */
  isSupervised(deploymentId: string): boolean {
    return this.#supervised.has(deploymentId);
  }

  /** Starts the agent of a deployment next, where many wait for their start. */
  startNext(deploymentId: string): void {
    this.#startSlots.prefer(deploymentId);
  }

  /** Stops every agent of a deployment, draining ones included. Cuts requests in flight after `withinMs`. */
  async release(deploymentId: string, withinMs: number): Promise<void> {
    const entry = this.#supervised.get(deploymentId);
    this.#supervised.delete(deploymentId);
    if (entry) this.#retireInBackground(entry, this.#by.gateway.withdraw(deploymentId));
    const own = [...this.#retiring].filter((leaves) => leaves.deploymentId === deploymentId);
    await withTimeout(this.#by.clock, withinMs, (late) => {
      void untilAborted(late).then(() => own.forEach(({ hurry }) => hurry.abort()));
      return allLeft(own);
    });
  }

  /** Stops every agent within `withinMs`: half for requests in flight, half for the agents to exit. */
  async stop(withinMs: number): Promise<void> {
    const inTime = new AbortController();
    const forRequests = withinMs / 2;
    this.#stopWithin = withinMs - forRequests;
    const late = this.#stopLate(inTime.signal, forRequests);
    for (const entry of this.#supervised.values()) {
      this.#retireInBackground(entry, this.#by.gateway.withdraw(entry.spec.deploymentId));
    }
    this.#supervised.clear();
    while (this.#retiring.size > 0) await allLeft(this.#retiring);
    inTime.abort();
    await late;
  }

  #supervise(spec: AgentSpec, agent?: RunningAgent): SupervisedAgent {
    const entry = { spec, wasLive: !agent, leaving: new AbortController(), agent, repaired: false };
    const supervising: SupervisedAgent = { ...entry, watched: Promise.resolve() };
    supervising.watched = this.#watch(supervising);
    this.#supervised.set(spec.deploymentId, supervising);
    return supervising;
  }

  /** Until it is stopped: restarts a failed one with backoff, and gives up after too many failures in a row. */
  async #watch(entry: SupervisedAgent): Promise<void> {
    const { spec } = entry;
    const { signal } = entry.leaving;
    for (let breakdowns = 0; !signal.aborted;) {
      const ended = entry.agent ? await this.#serve(entry, entry.agent, breakdowns > 0) : await this.#startAgain(entry);
      if (signal.aborted) return;
      if (ended === 'started') continue;
      const serving = await this.#repaired(entry, ended);
      if (signal.aborted) return;
      breakdowns = serving.wasWell ? 1 : breakdowns + 1;
      if (breakdowns >= maxBreakdowns) return this.#giveUp(entry, breakdowns, serving);
      const wait = restartDelay(breakdowns);
      spec.log('error', `${inASentence(serving.how)} Restarting it in ${wait / 1_000} s.`);
      this.#by.exitHandlers?.brokeDown(spec, breakdowns, serving);
      await pause(this.#by.clock, wait, signal);
    }
  }

  async #startAgain(entry: SupervisedAgent): Promise<'started' | AgentExit> {
    const { spec } = entry;
    const start = await this.#startAgent(spec, entry.leaving.signal);
    if (start.kind === 'failed') return { how: withoutFullStop(start.reason), said: start.said ?? [], wasWell: false };
    entry.agent = start.agent;
    if (this.#supervised.get(spec.deploymentId) === entry) {
      this.#by.gateway.switchTo(spec.deploymentId, start.agent);
      spec.log('info', 'The agent serves.');
    }
    return 'started';
  }

  async #repaired(entry: SupervisedAgent, ended: AgentExit): Promise<AgentExit> {
    if (ended.wasWell) entry.repaired = false;
    const { repair } = this.#by;
    if (!repair || entry.repaired) return ended;
    const done = await repair(entry.spec, entry.leaving.signal).catch((error: unknown): Repair => {
      return { kind: 'broken', reason: `Its build could not be checked: ${tenantErrorMessage(error)}` };
    });
    entry.repaired = done.kind === 'repaired';
    return done.kind === 'broken' ? { ...ended, how: withoutFullStop(done.reason) } : ended;
  }

  async #serve(entry: SupervisedAgent, agent: RunningAgent, brokeDown: boolean): Promise<AgentExit> {
    const { spec } = entry;
    const over = new AbortController();
    const both = AbortSignal.any([over.signal, entry.leaving.signal]);
    let wasWell = false;
    const noteHealthy = async (): Promise<void> => {
      await pause(this.#by.clock, healthyAfterMs, both);
      if (both.aborted) return;
      wasWell = true;
      if (brokeDown || entry.wasLive) this.#by.exitHandlers?.isWell(spec);
    };
    void noteHealthy();
    const how = await Promise.race([agent.exited, untilAborted(entry.leaving.signal)]);
    over.abort();
    if (how === undefined || entry.leaving.signal.aborted) return { how: '', said: [], wasWell };
    if (this.#by.gateway.live(spec.deploymentId)?.origin === agent.origin)
      this.#by.gateway.withdraw(spec.deploymentId)?.close();
    entry.agent = undefined;
    return { how, said: agent.said?.() ?? [], wasWell };
  }

  #giveUp(entry: SupervisedAgent, times: number, breakdown: AgentFailure): void {
    const { spec } = entry;
    if (this.#supervised.get(spec.deploymentId) === entry) this.#supervised.delete(spec.deploymentId);
    spec.log('error', `${inASentence(breakdown.how)} It broke down ${times} times in a row and is not started again.`);
    this.#by.exitHandlers?.givenUp(spec, times, breakdown);
  }

  async #startAgent(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
    const giveBack = await this.#startSlots.take(signal, spec.deploymentId);
    try {
      await this.#by.exitHandlers?.ready(spec);
      return await this.#by.compute.start(spec, signal);
    } catch (error) {
      // Every error of a start is retried.
      const why = withoutFullStop(tenantErrorMessage(error));
      return { kind: 'failed', reason: `The agent could not be started: ${why}.` };
    } finally {
      giveBack?.();
    }
  }

  /** Stops an agent once nothing is in flight on it, or after a timeout. */
  async #retire(entry: SupervisedAgent, route: AgentRoute | undefined, hurry: AbortSignal): Promise<void> {
    entry.leaving.abort();
    await entry.watched;
    if (route) {
      await withTimeout(
        this.#by.clock,
        this.#by.drainMs,
        (late) => Promise.race([route.drained(), untilAborted(late)]),
        hurry,
      );
      route.close();
    }
    if (!entry.agent) return;
    this.#leaving.add(entry.agent);
    await entry.agent.stop(this.#stopWithin);
    this.#leaving.delete(entry.agent);
    entry.spec.log('info', entry.agent.isIdle?.() ? lastLogMessages.idle : lastLogMessages.stopped);
  }

  #retireInBackground(entry: SupervisedAgent, route: AgentRoute | undefined): void {
    const hurry = new AbortController();
    const leaves: DrainingAgent = { deploymentId: entry.spec.deploymentId, hurry, left: Promise.resolve() };
    leaves.left = this.#retire(entry, route, hurry.signal).finally(() => this.#retiring.delete(leaves));
    if (this.#isLate) hurry.abort();
    this.#retiring.add(leaves);
  }

  /** Shortens the time of agents that were already draining. */
  async #stopLate(inTime: AbortSignal, ms: number): Promise<void> {
    await pause(this.#by.clock, ms, inTime);
    this.#isLate = true;
    for (const leaves of this.#retiring) leaves.hurry.abort();
    if (!inTime.aborted) await Promise.all([...this.#leaving].map((agent) => agent.stop(ms)));
  }
}

const allLeft = (agents: Iterable<DrainingAgent>): Promise<unknown> => Promise.all([...agents].map(({ left }) => left));

/** The reason is either a few words about the process or a whole sentence of the compute. */
const inASentence = (how: string): string => (/^[A-Z]/.test(how) ? `${how}.` : `The agent's process ended: ${how}.`);
