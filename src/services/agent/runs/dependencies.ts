import type { Clock } from '../../../kit/clock.ts';
import type { Graphs } from '../graphs/graphs.ts';
import type { RemoteRuns } from './remote-runs.ts';
import type { RunQueue } from './queue.ts';
import type { RunEvents } from './run-events.ts';
import type { Slots } from './slots.ts';
import type { RunStore } from './store.ts';
import type { Logger } from '../../../kit/logger.ts';
import type { HiddenValues } from '../tracing/step-recorder.ts';

export interface RunDependencies {
  graphs: Graphs;
  store: RunStore;
  queue: RunQueue;
  events: RunEvents;
  remoteRuns: RemoteRuns;
  slots: Slots;
  clock: Clock;
  log: Logger;
  /** The time limit (ms) of a run; absent for none. */
  limitMs?: number | undefined;
  /** Present where the agent authenticates callers: the `configurable` of a run names its user. */
  access?: object | undefined;
  /** What exported runs leave out; absent if runs are not exported. */
  traced?: HiddenValues | undefined;
}

export interface RunStart {
  attempt: number;
  /** A caller is about to stream its events. */
  followed: boolean;
  /** It is already `running` and has its slot. */
  started: boolean;
  /** Settles when the previous run on its thread, in this process, has ended. */
  after: Promise<unknown> | undefined;
  /** Queues a delayed run on its thread: settles as `after` does. */
  enqueue: (sequence: number) => Promise<unknown> | undefined;
}
