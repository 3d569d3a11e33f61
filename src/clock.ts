/** Time as something you are handed: the real one here, a simulated one in tests. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own time. A sleeping clock keeps the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const wake = () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/**
 * Whether `ms` milliseconds have passed since a time that the clock gave. A clock that was set back behind that time says
 * nothing about how long it was: then too it is time, or what comes again and again would stop until the clock is there again.
 */
export function hasPassed(clock: Pick<Clock, 'now'>, since: number, ms: number): boolean {
  const passed = clock.now() - since;
  return passed >= ms || passed < 0;
}

/** Waits until `ms` milliseconds are over or the signal aborts, whichever comes first: where an early end is no failure. */
export async function pause(clock: Pick<Clock, 'sleep'>, ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
