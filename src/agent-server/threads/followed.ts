import type { ThreadEvents } from './thread-events.ts';

/** A run whose events go to the stream of its thread. */
export interface Subscription {
  /** Unsubscribes. */
  forget: () => void;
  /** Reports the start of a run that waits for its turn. */
  begin?: (() => void) | undefined;
  /** When it has ended (ms). */
  endedAt?: number;
}

/** A thread with followers, now or recently. */
export interface Followed {
  events: ThreadEvents;
  openedAt: number;
  /** When its last follower disconnected; undefined while there is one. */
  leftAt: number | undefined;
  runs: Map<string, Subscription>;
  /** Up to which time (ms) manual updates have been reported. */
  writtenAt: number;
}
