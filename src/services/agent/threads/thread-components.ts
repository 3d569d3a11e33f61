import type { Clock } from '../../../kit/clock.ts';
import type { Graphs } from '../graphs/graphs.ts';
import type { Runs } from '../runs/runs.ts';
import type { Storage } from '../storage/open.ts';
import { lifetimesOf, type LifetimeConfig } from './lifetime.ts';
import { threadSweep, threadExpiry, type ThreadExpiry } from './thread-expiry.ts';
import { ThreadDeleter } from './deleter.ts';
import { ThreadStates } from './states.ts';
import type { ThreadStore } from './store.ts';
import { ThreadStreams } from './thread-streams.ts';
import type { Logger } from '../../../kit/logger.ts';

export interface ThreadDependencies {
  storage: Storage;
  threads: ThreadStore;
  graphs: Graphs;
  runs: Runs;
  lifetime: LifetimeConfig;
  clock: Clock;
  log: Logger;
  /** Called with a thread that was deleted or has expired. */
  onGone: (threadId: string) => void;
}

/** All thread components except runs. */
export interface ThreadComponents {
  threads: ThreadStore;
  states: ThreadStates;
  lives: ThreadExpiry;
  deleter: ThreadDeleter;
  streams: ThreadStreams;
  /** Background work: handles expired threads. */
  sweep: ReturnType<typeof threadSweep>;
}

/** Creates the thread components, and records when the default time to live took effect. */
export async function createThreadComponents(around: ThreadDependencies): Promise<ThreadComponents> {
  const { storage, threads, graphs, runs, clock, log } = around;
  const { pool } = storage;
  const lifetimes = lifetimesOf(around.lifetime);
  const lives = threadExpiry(storage, lifetimes, clock);
  await lives.noteStart();
  const states = new ThreadStates({
    pool,
    threads,
    graphs,
    clock,
    reportUpdate: (threadId, state, at) => streams.reportUpdate(threadId, state, at),
  });
  const stateOf = async (threadId: string) => {
    const thread = await threads.get(threadId);
    return thread && states.at(thread, {}, false);
  };
  const streams = new ThreadStreams({ runs, storage, stateOf, clock, log });
  const gone = (threadId: string) => {
    streams.close(threadId);
    around.onGone(threadId);
  };
  const deleter = new ThreadDeleter({ pool, threads, runs, graphs, clock, gone });
  const sweep = threadSweep({ lives, deleter, everyMs: lifetimes.sweepMs, clock, gone, log });
  return { threads, states, lives, deleter, streams, sweep };
}
