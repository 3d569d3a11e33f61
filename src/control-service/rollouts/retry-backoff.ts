import { type Clock, steadyNow, backoffMs } from '../../clock.ts';

/** The longest delay between two attempts, in milliseconds. */
const longestPause = 15 * 60_000;

/** The retry backoff of many items by their ids. */
export interface Attempts {
  /** Whether an attempt is due. */
  isDue(id: string): boolean;
  /** An attempt failed or is running: doubles the delay. */
  failed(id: string): void;
  /** An attempt succeeded: resets the delay. */
  done(id: string): void;
}

/** Creates an empty backoff. @param firstPause milliseconds after the first failure. */
export function attempts(clock: Pick<Clock, 'now'>, firstPause: number): Attempts {
  const failures = new Map<string, { count: number; next: number }>();
  return {
    isDue: (id) => steadyNow(clock) >= (failures.get(id)?.next ?? 0),
    failed(id) {
      const count = (failures.get(id)?.count ?? 0) + 1;
      failures.set(id, { count, next: steadyNow(clock) + backoffMs(count, firstPause, longestPause) });
    },
    done: (id) => void failures.delete(id),
  };
}
