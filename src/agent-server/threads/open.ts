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

/** What the threads of a process are put together from. */
export interface ThreadsSurroundings {
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
  sweep: ThreadSweep;
}

/** Puts together what looks after threads, and notes since when the configuration file gives them a time. */
export async function openThreads(around: ThreadsSurroundings): Promise<OpenThreads> {
  const { storage, threads, graphs, runs, clock, log } = around;
  const { pool } = storage;
  const lifetimes = lifetimesOf(around.lifetime);
  const lives = new ThreadLives(storage, lifetimes, clock);
  await lives.noteBeginning();
  const remover = new ThreadRemover({ pool, threads, runs, graphs, clock });
  return {
    threads,
    states: new ThreadStates({ pool, threads, graphs, clock }),
    lives,
    remover,
    sweep: new ThreadSweep({ lives, remover, everyMs: lifetimes.sweepMs, clock, log }),
  };
}
