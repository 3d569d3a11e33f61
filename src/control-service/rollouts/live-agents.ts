import { pause, type Clock } from '../../clock.ts';
import type { AgentSpec, AgentStart, Compute, RunningAgent } from '../compute/compute.ts';
import { parting } from '../compute/parting.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AgentRoute } from '../gateway/agent-route.ts';
import type { AgentExitHandlers, Breakdown } from './agent-exits.ts';
import type { Repair } from './repair.ts';
import { mostBreakdowns, restartDelay, wellAfter } from './restart-delay.ts';
import { slots } from './slots.ts';
import { wordsForTenant } from './unforeseen.ts';

export interface LiveAgentsSettings {
  compute: Compute;
  gateway: Pick<Gateway, 'switchTo' | 'withdraw' | 'live'>;
  clock: Clock;
  /** Milliseconds that requests in flight on a former process have to end by themselves. */
  lettingGoMs: number;
  /** Makes the build of an agent that broke down again where it is damaged; nothing is done when absent. */
  repair?: (spec: AgentSpec, signal: AbortSignal) => Promise<Repair>;
  /** Called on their exits and restarts. */
  exitHandlers?: AgentExitHandlers;
}

/** Traffic that went over to a new agent, until it is clear that it stays there. */
export interface Switched {
  /** It stays: the former agent is drained and stopped, in the background. */
  settle(): void;
  /** It goes back to the former agent, if there was one; the new one is stopped, in the background. */
  undo(): void;
}

/** The agents that serve: one a deployment, started again when it breaks down, as long as there is hope. */
export interface LiveAgents {
  /** Sends new requests to an agent that runs, from now on. */
  switchTo(spec: AgentSpec, agent: RunningAgent): Switched;
  /** Starts the agent of a revision that is live already, as often as it takes, unless one serves. Returns at once. */
  revive(spec: AgentSpec): void;
  /** Whether a deployment has an agent that serves, or is being started again. */
  looksAfter(deploymentId: string): boolean;
  /**
   * Stops every agent of a deployment, also those that are leaving already: nothing new reaches them from now on, what is
   * in flight has `withinMs` to end by itself and is cut then. Resolves when all of them have ended.
   */
  release(deploymentId: string, withinMs: number): Promise<void>;
  /** Stops every agent within `withinMs`: the first half is for requests in flight, the other for the agents themselves. */
  stop(withinMs: number): Promise<void>;
}

/** How an agent's service ended, and whether it had been well before. */
interface Ended extends Breakdown {
  wasWell: boolean;
}

/** One deployment's agent and who looks after it. */
interface SupervisedAgent {
  spec: AgentSpec;
  /** Live before this service started: its record may still have a failure from then. */
  revived: boolean;
  leaving: AbortController;
  agent: RunningAgent | undefined;
  /** Whether its build was made again since it was well: once, as an agent can damage its build by itself. */
  repaired: boolean;
  /** Resolves when supervision has ended. */
  watched: Promise<void>;
}

/** An agent that is leaving. */
interface Retiring {
  deploymentId: string;
  /** Aborts when what is in flight on it has no more time. */
  hurry: AbortController;
  left: Promise<void>;
}

/** How many agents are started again at the same time: after a restart of this service all of them are. */
const startsAtOnce = 4;

/** Makes the agents that serve; none does yet. */
export function liveAgents({
  compute,
  gateway,
  clock,
  lettingGoMs,
  repair,
  exitHandlers,
}: LiveAgentsSettings): LiveAgents {
  const startSlots = slots(startsAtOnce);
  const posts = new Map<string, SupervisedAgent>();
  const retiring = new Set<Retiring>();
  const leaving = new Set<RunningAgent>();
  let stopWithin: number | undefined;
  let isLate = false;

  function take(spec: AgentSpec, agent: RunningAgent | undefined): SupervisedAgent {
    const leaves = new AbortController();
    const post: SupervisedAgent = {
      spec,
      revived: agent === undefined,
      leaving: leaves,
      agent,
      repaired: false,
      watched: Promise.resolve(),
    };
    post.watched = watch(post);
    return post;
  }

  /**
   * Looks after an agent until it is to leave: one that breaks down is started again, each time after a longer wait, and
   * given up when that comes to nothing.
   */
  async function watch(post: SupervisedAgent): Promise<void> {
    const { spec } = post;
    const { signal } = post.leaving;
    for (let breakdowns = 0; !signal.aborted;) {
      const ended = post.agent ? await serve(post, post.agent, breakdowns > 0) : await startAgain(post);
      if (signal.aborted) return;
      if (ended === 'started') continue;
      const serving = await repaired(post, ended);
      if (signal.aborted) return;
      breakdowns = serving.wasWell ? 1 : breakdowns + 1;
      if (breakdowns >= mostBreakdowns) return giveUp(post, breakdowns, serving);
      const wait = restartDelay(breakdowns);
      spec.log('error', `${inASentence(serving.how)} Starting it again in ${wait / 1_000} s.`);
      exitHandlers?.brokeDown(spec, breakdowns, serving);
      await pause(clock, wait, signal);
    }
  }

  async function startAgain(post: SupervisedAgent): Promise<'started' | Ended> {
    const { spec } = post;
    const start = await startAgent(spec, post.leaving.signal);
    if (start.kind === 'failed') return { how: withoutStop(start.reason), said: start.said ?? [], wasWell: false };
    post.agent = start.agent;
    if (posts.get(spec.deploymentId) === post) {
      gateway.switchTo(spec.deploymentId, start.agent);
      spec.log('info', 'The agent serves.');
    }
    return 'started';
  }

  /** How an agent ended, after its build was made again where it is damaged. */
  async function repaired(post: SupervisedAgent, ended: Ended): Promise<Ended> {
    if (ended.wasWell) post.repaired = false;
    if (!repair || post.repaired) return ended;
    const done = await repair(post.spec, post.leaving.signal).catch((error: unknown): Repair => {
      return { kind: 'broken', reason: `Its build could not be looked at: ${wordsForTenant(error)}` };
    });
    post.repaired = done.kind === 'repaired';
    return done.kind === 'broken' ? { ...ended, how: withoutStop(done.reason) } : ended;
  }

  /** Waits for the end of an agent, or until it is to leave. */
  async function serve(post: SupervisedAgent, agent: RunningAgent, brokeDown: boolean): Promise<Ended> {
    const { spec } = post;
    const over = new AbortController();
    const both = AbortSignal.any([over.signal, post.leaving.signal]);
    let wasWell = false;
    const noteWell = async (): Promise<void> => {
      await pause(clock, wellAfter, both);
      if (both.aborted) return;
      wasWell = true;
      if (brokeDown || post.revived) exitHandlers?.isWell(spec);
    };
    void noteWell();
    const how = await Promise.race([agent.exited, aborted(post.leaving.signal)]);
    over.abort();
    if (how === undefined || post.leaving.signal.aborted) return { how: '', said: [], wasWell };
    withdraw(spec.deploymentId, agent);
    post.agent = undefined;
    return { how, said: agent.said?.() ?? [], wasWell };
  }

  function giveUp(post: SupervisedAgent, times: number, breakdown: Breakdown): void {
    const { spec } = post;
    if (posts.get(spec.deploymentId) === post) posts.delete(spec.deploymentId);
    spec.log('error', `${inASentence(breakdown.how)} It broke down ${times} times in a row and is not started again.`);
    exitHandlers?.givenUp(spec, times, breakdown);
  }

  async function startAgent(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
    const giveBack = await startSlots.take(signal);
    try {
      await exitHandlers?.ready(spec);
      return await compute.start(spec, signal);
    } catch (error) {
      // Whatever keeps an agent from starting is a reason to try again.
      return {
        kind: 'failed',
        reason: `The agent could not be started: ${withoutStop(wordsForTenant(error))}.`,
      };
    } finally {
      giveBack?.();
    }
  }

  function withdraw(deploymentId: string, agent: RunningAgent): void {
    if (gateway.live(deploymentId)?.origin === agent.origin) gateway.withdraw(deploymentId)?.close();
  }

  /** Ends an agent once nothing is in flight on it, or after a bound. */
  async function retire(post: SupervisedAgent, route: AgentRoute | undefined, hurried: AbortSignal): Promise<void> {
    post.leaving.abort();
    await post.watched;
    if (route) {
      const drained = new AbortController();
      const bound = pause(clock, lettingGoMs, AbortSignal.any([drained.signal, hurried]));
      await Promise.race([route.drained(), bound]);
      drained.abort();
      route.close();
    }
    if (!post.agent) return;
    leaving.add(post.agent);
    await post.agent.stop(stopWithin);
    leaving.delete(post.agent);
    post.spec.log('info', post.agent.isIdle?.() ? parting.isIdle : parting.stopped);
  }

  function inBackground(post: SupervisedAgent, route: AgentRoute | undefined): void {
    const hurry = new AbortController();
    const leaves: Retiring = { deploymentId: post.spec.deploymentId, hurry, left: Promise.resolve() };
    leaves.left = retire(post, route, hurry.signal).finally(() => retiring.delete(leaves));
    if (isLate) hurry.abort();
    retiring.add(leaves);
  }

  const leftBehind = (leaves: Iterable<Retiring>): Promise<unknown> => Promise.all([...leaves].map(({ left }) => left));

  /** Shortens the time of agents that were already draining. */
  async function stopLate(inTime: AbortSignal, ms: number): Promise<void> {
    await pause(clock, ms, inTime);
    isLate = true;
    for (const leaves of retiring) leaves.hurry.abort();
    if (!inTime.aborted) await Promise.all([...leaving].map((agent) => agent.stop(ms)));
  }

  return {
    switchTo(spec, agent) {
      const { deploymentId } = spec;
      const former = posts.get(deploymentId);
      const formerRoute = gateway.switchTo(deploymentId, agent);
      const post = take(spec, agent);
      posts.set(deploymentId, post);
      return {
        settle() {
          if (!former) return;
          former.spec.log('info', 'Traffic has gone over to a newer revision; the agent finishes what it is at.');
          inBackground(former, formerRoute);
        },
        undo() {
          const route = former?.agent ? gateway.switchTo(deploymentId, former.agent) : gateway.withdraw(deploymentId);
          if (former) posts.set(deploymentId, former);
          else posts.delete(deploymentId);
          inBackground(post, route);
        },
      };
    },
    revive(spec) {
      if (!posts.has(spec.deploymentId)) posts.set(spec.deploymentId, take(spec, undefined));
    },
    looksAfter: (deploymentId) => posts.has(deploymentId),
    async release(deploymentId, withinMs) {
      const post = posts.get(deploymentId);
      posts.delete(deploymentId);
      if (post) inBackground(post, gateway.withdraw(deploymentId));
      const own = [...retiring].filter((leaves) => leaves.deploymentId === deploymentId);
      const allLeft = new AbortController();
      const cut = pause(clock, withinMs, allLeft.signal).then(() => own.forEach(({ hurry }) => hurry.abort()));
      await leftBehind(own);
      allLeft.abort();
      await cut;
    },
    async stop(withinMs) {
      const inTime = new AbortController();
      const forRequests = withinMs / 2;
      stopWithin = withinMs - forRequests;
      const late = stopLate(inTime.signal, forRequests);
      for (const post of posts.values()) inBackground(post, gateway.withdraw(post.spec.deploymentId));
      posts.clear();
      while (retiring.size > 0) await leftBehind(retiring);
      inTime.abort();
      await late;
    },
  };
}

/** What ended the agent is either a few words about its process or a whole sentence of the compute. */
const inASentence = (how: string): string => (/^[A-Z]/.test(how) ? `${how}.` : `The agent's process ended: ${how}.`);

const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '');

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
