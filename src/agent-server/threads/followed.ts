import type { ThreadEvents } from './thread-events.ts';

/** A run that is told of on the stream of its thread. */
export interface Subscription {
  /** Ends the telling. */
  forget: () => void;
  /** Tells that it begins, where that waits for its turn. */
  begin?: (() => void) | undefined;
  /** When it has ended (ms). */
  endedAt?: number;
}

/** A thread that is followed, or was just now. */
export interface Followed {
  events: ThreadEvents;
  openedAt: number;
  /** When its last follower left; undefined while there is one. */
  leftAt: number | undefined;
  runs: Map<string, Subscription>;
  /** Until when (ms) it is told what states were written by hand. */
  writtenAt: number;
}
