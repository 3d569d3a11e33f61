import type { Clock } from '../../clock.ts';
import type { Graphs } from '../graphs/graphs.ts';
import type { RemoteRuns } from './remote-runs.ts';
import type { RunQueue } from './queue.ts';
import type { RunEvents } from './run-events.ts';
import type { Slots } from './slots.ts';
import type { RunStore } from './store.ts';

/** What a run needs around it. */
export interface RunDependencies {
  graphs: Graphs;
  store: RunStore;
  queue: RunQueue;
  events: RunEvents;
  remoteRuns: RemoteRuns;
  slots: Slots;
  clock: Clock;
  log: (line: string) => void;
  /** How long (ms) a run may take; for ever where absent. */
  limitMs: number | undefined;
}

/** How a run begins. */
export interface RunStart {
  attempt: number;
  /** Somebody is about to follow its events. */
  followed: boolean;
  /** It is `running` already and has its slot. */
  started: boolean;
  /** Settles when the run before it on its thread, in this process, has ended. */
  after: Promise<unknown> | undefined;
  /** Takes a place in its thread's line, for a run that was put off: settles as `after` does. */
  joinLine: (sequence: number) => Promise<unknown> | undefined;
}
