import type { Clock } from '../../clock.ts';
import type { Graphs } from '../graphs/graphs.ts';
import type { Runs } from '../runs/runs.ts';
import type { Storage } from '../storage/open.ts';
import { lifetimesOf } from './lifetime.ts';
import type { LifetimeConfig } from './lifetime.ts';
import { ThreadLives } from './lives.ts';
import { ThreadRemover } from './remover.ts';
import { ThreadStates } from './states.ts';
import type { ThreadStore } from './store.ts';
import { ThreadSweep } from './sweep.ts';
import { ThreadRuns } from './thread-runs.ts';
import { ThreadStreams } from './thread-streams.ts';

/** What the threads of a process are put together from. */
export interface ThreadDependencies {
  storage: Storage;
  threads: ThreadStore;
  graphs: Graphs;
  runs: Runs;
  /** The key `checkpointer.ttl` of the graph configuration file. */
  lifetime: LifetimeConfig | null | undefined;
  clock: Clock;
  log: (line: string) => void;
}

/** Everything that is done with threads but running on them. */
export interface OpenThreads {
  threads: ThreadStore;
  states: ThreadStates;
  lives: ThreadLives;
  remover: ThreadRemover;
  streams: ThreadStreams;
  /** What goes on beside the requests: threads whose time is over go, and at the end all who follow one are let go. */
  sweep: { begin: () => void; end: () => Promise<void> };
}

/** Puts together what looks after threads, and notes since when the configuration file gives them a time. */
export async function openThreads(around: ThreadDependencies): Promise<OpenThreads> {
  const { storage, threads, graphs, runs, clock, log } = around;
  const { pool } = storage;
  const lifetimes = lifetimesOf(around.lifetime);
  const lives = new ThreadLives(storage, lifetimes, clock);
  await lives.noteStart();
  const states = new ThreadStates({
    pool,
    threads,
    graphs,
    clock,
    written: (threadId, state, at) => streams.written(threadId, state, at),
  });
  const stateOf = async (threadId: string) => {
    const thread = await threads.get(threadId);
    return thread && states.at(thread, {}, false);
  };
  const streams = new ThreadStreams({ runs, threadRuns: new ThreadRuns(pool), stateOf, clock, log });
  const gone = (threadId: string) => streams.gone(threadId);
  const remover = new ThreadRemover({ pool, threads, runs, graphs, clock, gone });
  const sweep = new ThreadSweep({ lives, remover, everyMs: lifetimes.sweepMs, clock, gone, log });
  const end = async () => {
    await streams.end();
    await sweep.end();
  };
  return { threads, states, lives, remover, streams, sweep: { begin: () => sweep.begin(), end } };
}
