import { pause, steadyNow } from '../../clock.ts';
import type { Clock } from '../../clock.ts';

/** Notifies long polls that there may be work. One service works on a database, so the bell reaches all of them. */
export interface WorkBell {
  /** There may be work. */
  ring(): void;
  /** Subscribes to the next ring: a ring between this call and the waiting is not missed. */
  listen(): NextRing;
  /** Ends all waiting, for good. */
  close(): void;
  readonly isClosed: boolean;
  /** Milliseconds of the steady clock: what waiting is measured by. */
  now(): number;
}

/** The first ring after a moment. */
export interface NextRing {
  /** Resolves at the ring, after `ms` milliseconds, or when `signal` aborts. */
  within(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

/** Creates a bell. */
export function workBell(clock: Clock): WorkBell {
  let next = Promise.withResolvers<void>();
  let isClosed = false;
  const ring = (): void => {
    next.resolve();
    if (!isClosed) next = Promise.withResolvers<void>();
  };
  return {
    now: () => steadyNow(clock),
    ring,
    listen() {
      const rung = next.promise;
      return {
        async within(ms, signal) {
          const over = new AbortController();
          const ended = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
          await Promise.race([rung, pause(clock, ms, ended)]);
          over.abort();
        },
      };
    },
    close() {
      isClosed = true;
      ring();
    },
    get isClosed() {
      return isClosed;
    },
  };
}
