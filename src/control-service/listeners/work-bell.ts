import { pause, steadyNow } from '../../clock.ts';
import type { Clock } from '../../clock.ts';

/** Tells those who wait for work that there may be some now. One service works on a database, so that it is heard by all. */
export interface WorkBell {
  /** There may be work. */
  ring(): void;
  /** From now on listens for the next ring: what rings between this call and the waiting is not missed. */
  listen(): NextRing;
  /** From now on nobody waits any more. */
  close(): void;
  readonly isClosed: boolean;
  /** Milliseconds of the steady clock: what waiting is measured by. */
  now(): number;
}

/** The first ring after a moment. */
export interface NextRing {
  /** Resolves when it rings, `ms` milliseconds are over, or `signal` aborts. */
  within(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

/** Makes a bell. */
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
