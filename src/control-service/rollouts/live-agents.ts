import { pause, type Clock } from '../../clock.ts';
import type { AgentSpec, AgentStart, Compute, RunningAgent } from '../compute/compute.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Lane } from '../gateway/lane.ts';
import { restartDelay, wellAfter } from './restart-delay.ts';
import { slots } from './slots.ts';

export interface LiveAgentsSettings {
  compute: Compute;
  gateway: Pick<Gateway, 'switchTo' | 'withdraw' | 'live'>;
  clock: Clock;
  /** Milliseconds that requests in flight on a former process have to end by themselves. */
  lettingGoMs: number;
}

/** Traffic that went over to a new agent, until it is clear that it stays there. */
export interface Switched {
  /** It stays: the former agent is drained and stopped, in the background. */
  settle(): void;
  /** It goes back to the former agent, if there was one; the new one is stopped, in the background. */
  undo(): void;
}

/** The agents that serve: one a deployment, started again when it breaks down. */
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

/** One deployment's agent and who looks after it. */
interface Post {
  spec: AgentSpec;
  leaving: AbortController;
  agent: RunningAgent | undefined;
  /** Resolves when nobody looks after it any more. */
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
export function liveAgents({ compute, gateway, clock, lettingGoMs }: LiveAgentsSettings): LiveAgents {
  const startSlots = slots(startsAtOnce);
  const posts = new Map<string, Post>();
  const retiring = new Set<Retiring>();
  const leaving = new Set<RunningAgent>();
  let stopWithin: number | undefined;
  let isLate = false;

  function take(spec: AgentSpec, agent: RunningAgent | undefined): Post {
    const post: Post = { spec, leaving: new AbortController(), agent, watched: Promise.resolve() };
    post.watched = watch(post);
    return post;
  }

  /** Looks after an agent until it is to leave: one that breaks down is started again, each time after a longer wait. */
  async function watch(post: Post): Promise<void> {
    const { spec } = post;
    const { signal } = post.leaving;
    for (let breakdowns = 0; !signal.aborted;) {
      if (breakdowns > 0) await pause(clock, restartDelay(breakdowns), signal);
      if (!post.agent && !signal.aborted) {
        const start = await startAgent(spec, signal);
        if (start.kind === 'running') {
          post.agent = start.agent;
          if (posts.get(spec.deploymentId) !== post) continue;
          gateway.switchTo(spec.deploymentId, start.agent);
          spec.log('info', 'The agent serves.');
        } else if (!signal.aborted) {
          breakdowns += 1;
          spec.log('error', `${start.reason} Trying again in ${restartDelay(breakdowns) / 1_000} s.`);
        }
      }
      if (!post.agent) continue;
      const since = clock.now();
      const ended = await Promise.race([post.agent.exited, aborted(signal)]);
      if (ended === undefined || signal.aborted) return;
      breakdowns = clock.now() - since >= wellAfter ? 1 : breakdowns + 1;
      withdraw(spec.deploymentId, post.agent);
      post.agent = undefined;
      spec.log(
        'error',
        `The agent's process ended: ${ended}. Starting it again in ${restartDelay(breakdowns) / 1_000} s.`,
      );
    }
  }

  async function startAgent(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
    const giveBack = await startSlots.take(signal);
    try {
      return await compute.start(spec, signal);
    } catch (error) {
      // Whatever keeps an agent from starting is a reason to try again.
      return {
        kind: 'failed',
        reason: `The agent could not be started: ${error instanceof Error ? error.message : String(error)}.`,
      };
    } finally {
      giveBack?.();
    }
  }

  function withdraw(deploymentId: string, agent: RunningAgent): void {
    if (gateway.live(deploymentId)?.origin === agent.origin) gateway.withdraw(deploymentId)?.close();
  }

  /** Ends an agent once nothing is in flight on it, or after a bound. */
  async function retire(post: Post, lane: Lane | undefined, hurried: AbortSignal): Promise<void> {
    post.leaving.abort();
    await post.watched;
    if (lane) {
      const drained = new AbortController();
      const bound = pause(clock, lettingGoMs, AbortSignal.any([drained.signal, hurried]));
      await Promise.race([lane.drained(), bound]);
      drained.abort();
      lane.close();
    }
    if (!post.agent) return;
    leaving.add(post.agent);
    await post.agent.stop(stopWithin);
    leaving.delete(post.agent);
    post.spec.log('info', 'The agent was stopped.');
  }

  function inBackground(post: Post, lane: Lane | undefined): void {
    const hurry = new AbortController();
    const leaves: Retiring = { deploymentId: post.spec.deploymentId, hurry, left: Promise.resolve() };
    leaves.left = retire(post, lane, hurry.signal).finally(() => retiring.delete(leaves));
    if (isLate) hurry.abort();
    retiring.add(leaves);
  }

  const leftBehind = (leaves: Iterable<Retiring>): Promise<unknown> => Promise.all([...leaves].map(({ left }) => left));

  /** Agents that had begun to leave before got longer for it than there is now. */
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
      const formerLane = gateway.switchTo(deploymentId, agent);
      const post = take(spec, agent);
      posts.set(deploymentId, post);
      return {
        settle() {
          if (!former) return;
          former.spec.log('info', 'Traffic has gone over to a newer revision; the agent finishes what it is at.');
          inBackground(former, formerLane);
        },
        undo() {
          const lane = former?.agent ? gateway.switchTo(deploymentId, former.agent) : gateway.withdraw(deploymentId);
          if (former) posts.set(deploymentId, former);
          else posts.delete(deploymentId);
          inBackground(post, lane);
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

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
