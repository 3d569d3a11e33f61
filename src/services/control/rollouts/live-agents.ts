import { withoutFullStop } from '../../../kit/plain-text.ts';
import { pause, untilAborted, withTimeout } from '../../../kit/clock.ts';
import type { AgentSpec, AgentStart, RunningAgent } from '../compute/compute.ts';
import { lastLogMessages } from '../compute/log-line.ts';
import type { AgentRoute } from '../gateway/agent-route.ts';
import { type AgentFailure, maxBreakdowns, restartDelay, stableAfterMs, tenantErrorMessage } from './agent-exits.ts';
import { createSemaphore } from './semaphore.ts';
import {
  asSentence,
  type AgentExit,
  type DrainingAgent,
  type LiveAgentsDependencies,
  type Repair,
  type SupervisedAgent,
} from './supervised-agent.ts';

/** How long an idle agent may take to stop (ms). */
const idleStopMs = 30_000;

/** Limits the load after a restart of this service, when all agents start. */
const maxConcurrentStarts = 4;

/** The live agents: one per deployment, restarted on failure up to a limit. */
export class LiveAgents {
  readonly #dependencies: LiveAgentsDependencies;
  readonly #startSlots = createSemaphore(maxConcurrentStarts);
  readonly #supervised = new Map<string, SupervisedAgent>();
  readonly #retiring = new Set<DrainingAgent>();
  readonly #stopping = new Set<RunningAgent>();
  #stopWithin: number | undefined;
  #isLate = false;

  constructor(dependencies: LiveAgentsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Sends new requests to a running agent from now on. The switch can be committed or undone. */
  switchTo(spec: AgentSpec, agent: RunningAgent) {
    const { gateway } = this.#dependencies;
    const { deploymentId } = spec;
    const formerEntry = this.#supervised.get(deploymentId);
    const formerRoute = gateway.switchTo(deploymentId, agent);
    const entry = this.#supervise(spec, agent);
    return {
      /** Commits: drains and stops the previous agent, in the background. */
      commit: (): void => {
        if (!formerEntry) return;
        formerEntry.spec.log('info', 'Traffic has switched to a newer revision; the agent is draining.');
        this.#retireInBackground(formerEntry, formerRoute);
      },
      /** Switches back to the previous agent, if any, and stops the new one, in the background. */
      undo: (): void => {
        const route =
          formerEntry?.agent && !formerEntry.zero
            ? gateway.switchTo(deploymentId, formerEntry.agent)
            : gateway.withdraw(deploymentId);
        if (formerEntry) this.#supervised.set(deploymentId, formerEntry);
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

  /**
   * Stops the agent of a deployment until `wake`, and answers requests as for one that is starting. False where it does
   * not serve. Call only where nothing is in flight on it.
   */
  scaleToZero(deploymentId: string): boolean {
    const entry = this.#supervised.get(deploymentId);
    if (!entry?.agent || entry.zero) return false;
    const route = this.#dependencies.gateway.withdraw(deploymentId);
    entry.zero = { woken: Promise.withResolvers(), started: Promise.withResolvers() };
    entry.scaleDown.abort();
    route?.close();
    return true;
  }

  /** Starts an agent that was scaled to zero; undefined where it was not. Resolves once it serves, or fails to start. */
  wake(deploymentId: string): Promise<void> | undefined {
    const zero = this.#supervised.get(deploymentId)?.zero;
    zero?.woken.resolve();
    return zero?.started.promise;
  }

  isScaledToZero(deploymentId: string): boolean {
    return this.#supervised.get(deploymentId)?.zero !== undefined;
  }

  /** Starts the agent of a deployment before others that wait for a start. */
  startNext(deploymentId: string): void {
    this.#startSlots.moveToFront(deploymentId);
  }

  /** Stops every agent of a deployment, draining ones included. Cuts requests in flight after `withinMs`. */
  async release(deploymentId: string, withinMs: number): Promise<void> {
    const entry = this.#supervised.get(deploymentId);
    this.#supervised.delete(deploymentId);
    if (entry) this.#retireInBackground(entry, this.#dependencies.gateway.withdraw(deploymentId));
    const agents = [...this.#retiring].filter((draining) => draining.deploymentId === deploymentId);
    await withTimeout(this.#dependencies.clock, withinMs, (late) => {
      void untilAborted(late).then(() => agents.forEach(({ cutOff }) => cutOff.abort()));
      return allRetired(agents);
    });
  }

  /** Stops every agent within `withinMs`: half for requests in flight, half for the agents to exit. */
  async stop(withinMs: number): Promise<void> {
    const allStopped = new AbortController();
    const drainMs = withinMs / 2;
    this.#stopWithin = withinMs - drainMs;
    const lateStops = this.#stopLate(allStopped.signal, drainMs);
    for (const entry of this.#supervised.values()) {
      this.#retireInBackground(entry, this.#dependencies.gateway.withdraw(entry.spec.deploymentId));
    }
    this.#supervised.clear();
    while (this.#retiring.size > 0) await allRetired(this.#retiring);
    allStopped.abort();
    await lateStops;
  }

  #supervise(spec: AgentSpec, agent?: RunningAgent): SupervisedAgent {
    const supervised: SupervisedAgent = {
      spec,
      wasLive: !agent,
      retirement: new AbortController(),
      scaleDown: new AbortController(),
      zero: undefined,
      agent,
      repaired: false,
      supervision: Promise.resolve(),
    };
    supervised.supervision = this.#watch(supervised).finally(() => supervised.zero?.started.resolve());
    this.#supervised.set(spec.deploymentId, supervised);
    return supervised;
  }

  /** Restarts an agent with backoff whenever it fails, until it is retired or has failed too often in a row. */
  async #watch(entry: SupervisedAgent): Promise<void> {
    const { spec } = entry;
    const { signal } = entry.retirement;
    for (let breakdowns = 0; !signal.aborted;) {
      const result = entry.agent
        ? await this.#serve(entry, entry.agent, breakdowns > 0)
        : await this.#startAgain(entry);
      if (result === 'scaled-to-zero') {
        // It served for the time in which it was idle, which is no shorter than that of a stable one.
        breakdowns = 0;
        entry.repaired = false;
        await Promise.race([entry.zero?.woken.promise, untilAborted(signal)]);
      }
      if (signal.aborted) return;
      if (result === 'started' || result === 'scaled-to-zero') continue;
      const exit = await this.#repairOnce(entry, result);
      if (signal.aborted) return;
      breakdowns = exit.wasStable ? 1 : breakdowns + 1;
      if (breakdowns >= maxBreakdowns) return this.#giveUp(entry, breakdowns, exit);
      const wait = restartDelay(breakdowns);
      spec.log('error', `${asSentence(exit.reason)} Restarting it in ${wait / 1_000} s.`);
      this.#dependencies.exitHandlers?.onBreakdown(spec, breakdowns, exit);
      await pause(this.#dependencies.clock, wait, signal);
    }
  }

  async #startAgain(entry: SupervisedAgent): Promise<'started' | AgentExit> {
    const { spec, zero } = entry;
    const start = await this.#startAgent(spec, entry.retirement.signal);
    entry.zero = undefined;
    zero?.started.resolve();
    if (start.kind === 'failed')
      return { reason: withoutFullStop(start.reason), lastLines: start.lastLines ?? [], wasStable: false };
    entry.agent = start.agent;
    if (this.#supervised.get(spec.deploymentId) === entry) {
      this.#dependencies.gateway.switchTo(spec.deploymentId, start.agent);
      spec.log('info', 'The agent serves.');
    }
    return 'started';
  }

  /** Repairs the build of a failed agent where it is damaged; the result has the reason if that fails. */
  async #repairOnce(entry: SupervisedAgent, exit: AgentExit): Promise<AgentExit> {
    if (exit.wasStable) entry.repaired = false;
    const { repair } = this.#dependencies;
    if (!repair || entry.repaired) return exit;
    const result = await repair(entry.spec, entry.retirement.signal).catch((error: unknown): Repair => {
      return { kind: 'broken', reason: `Its build could not be checked: ${tenantErrorMessage(error)}` };
    });
    entry.repaired = result.kind === 'repaired';
    return result.kind === 'broken' ? { ...exit, reason: withoutFullStop(result.reason) } : exit;
  }

  /** Waits until a running agent exits, is retired or scaled to zero, and takes its traffic away. */
  async #serve(entry: SupervisedAgent, agent: RunningAgent, brokeDown: boolean): Promise<AgentExit | 'scaled-to-zero'> {
    const { spec } = entry;
    const ended = new AbortController();
    entry.scaleDown = new AbortController();
    const scaledDown = untilAborted(entry.scaleDown.signal).then(() => 'scaled-to-zero' as const);
    const endSignal = AbortSignal.any([ended.signal, entry.retirement.signal]);
    let wasStable = false;
    const noteHealthy = async (): Promise<void> => {
      await pause(this.#dependencies.clock, stableAfterMs, endSignal);
      if (endSignal.aborted) return;
      wasStable = true;
      if (brokeDown || entry.wasLive) this.#dependencies.exitHandlers?.onStable(spec);
    };
    void noteHealthy();
    const reason = await Promise.race([agent.exited, scaledDown, untilAborted(entry.retirement.signal)]);
    ended.abort();
    if (entry.zero && !entry.retirement.signal.aborted) return await this.#stopIdle(entry, agent);
    if (reason === undefined || entry.retirement.signal.aborted) return { reason: '', lastLines: [], wasStable };
    if (this.#dependencies.gateway.live(spec.deploymentId)?.origin === agent.origin)
      this.#dependencies.gateway.withdraw(spec.deploymentId)?.close();
    entry.agent = undefined;
    return { reason, lastLines: agent.lastLines?.() ?? [], wasStable };
  }

  /** Stops an agent that nothing is in flight on; by force where that takes long. */
  async #stopIdle(entry: SupervisedAgent, agent: RunningAgent): Promise<'scaled-to-zero'> {
    this.#stopping.add(agent);
    await agent.stop(this.#stopWithin ?? idleStopMs);
    this.#stopping.delete(agent);
    entry.agent = undefined;
    entry.spec.log('info', lastLogMessages.scaledToZero);
    return 'scaled-to-zero';
  }

  #giveUp(entry: SupervisedAgent, times: number, breakdown: AgentFailure): void {
    const { spec } = entry;
    if (this.#supervised.get(spec.deploymentId) === entry) this.#supervised.delete(spec.deploymentId);
    spec.log(
      'error',
      `${asSentence(breakdown.reason)} It broke down ${times} times in a row and is not started again.`,
    );
    this.#dependencies.exitHandlers?.onGiveUp(spec, times, breakdown);
  }

  async #startAgent(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
    const release = await this.#startSlots.take(signal, spec.deploymentId);
    try {
      await this.#dependencies.exitHandlers?.untilStartable(spec);
      return await this.#dependencies.compute.start(spec, signal);
    } catch (error) {
      // The supervision retries every error of a start.
      const reason = withoutFullStop(tenantErrorMessage(error));
      return { kind: 'failed', reason: `The agent could not be started: ${reason}.` };
    } finally {
      release?.();
    }
  }

  /** Stops an agent once nothing is in flight on it, or after a timeout. */
  async #retire(entry: SupervisedAgent, route: AgentRoute | undefined, cutOff: AbortSignal): Promise<void> {
    entry.retirement.abort();
    await entry.supervision;
    if (route) {
      await withTimeout(
        this.#dependencies.clock,
        this.#dependencies.drainMs,
        (late) => Promise.race([route.drained(), untilAborted(late)]),
        cutOff,
      );
      route.close();
    }
    if (!entry.agent) return;
    this.#stopping.add(entry.agent);
    await entry.agent.stop(this.#stopWithin);
    this.#stopping.delete(entry.agent);
    entry.spec.log('info', entry.agent.isIdle?.() ? lastLogMessages.idle : lastLogMessages.stopped);
  }

  #retireInBackground(entry: SupervisedAgent, route: AgentRoute | undefined): void {
    const cutOff = new AbortController();
    const draining: DrainingAgent = { deploymentId: entry.spec.deploymentId, cutOff, retired: Promise.resolve() };
    draining.retired = this.#retire(entry, route, cutOff.signal).finally(() => this.#retiring.delete(draining));
    if (this.#isLate) cutOff.abort();
    this.#retiring.add(draining);
  }

  /** Cuts off all agents that are still draining or stopping after `ms`, unless all have stopped by then. */
  async #stopLate(allStopped: AbortSignal, ms: number): Promise<void> {
    await pause(this.#dependencies.clock, ms, allStopped);
    this.#isLate = true;
    for (const draining of this.#retiring) draining.cutOff.abort();
    if (!allStopped.aborted) await Promise.all([...this.#stopping].map((agent) => agent.stop(ms)));
  }
}

const allRetired = (agents: Iterable<DrainingAgent>): Promise<unknown> =>
  Promise.all([...agents].map(({ retired }) => retired));
