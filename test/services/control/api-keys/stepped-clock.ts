import type { Clock } from '../../../../src/kit/clock.ts';

/** A clock that stands still until it is advanced; then those who sleep until that time wake, in order. */
export function steppedClock() {
  let now = 0;
  const sleeping = new Set<{ until: number; wake: () => void }>();
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { until: now + ms, wake: resolve };
        sleeping.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleeping.delete(sleeper);
          reject(signal.reason);
        });
      }),
  };
  return {
    clock,
    /** How long each one still sleeps. */
    left: () => [...sleeping].map(({ until }) => until - now),
    advance: async (ms: number): Promise<void> => {
      const end = now + ms;
      for (;;) {
        const [next] = [...sleeping].filter(({ until }) => until <= end).toSorted((a, b) => a.until - b.until);
        if (!next) break;
        now = Math.max(now, next.until);
        sleeping.delete(next);
        next.wake();
        await new Promise(setImmediate);
      }
      now = end;
    },
  };
}
