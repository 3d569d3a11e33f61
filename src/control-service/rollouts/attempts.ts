import { type Clock, steadyNow } from '../../clock.ts';

/** The longest wait between two attempts, in milliseconds. */
const longestPause = 15 * 60_000;

/** When something that did not go is tried again, for each of many things by their ids. */
export interface Attempts {
  /** Whether it may be tried now. */
  isDue(id: string): boolean;
  /** It did not go, or is being tried: the wait for the next time doubles each time. */
  failed(id: string): void;
  /** It went: the next failure is the first again. */
  done(id: string): void;
}

/** Nothing has been tried yet. @param firstPause milliseconds after the first failure. */
export function attempts(clock: Pick<Clock, 'now'>, firstPause: number): Attempts {
  const failures = new Map<string, { count: number; next: number }>();
  return {
    isDue: (id) => steadyNow(clock) >= (failures.get(id)?.next ?? 0),
    failed(id) {
      const count = (failures.get(id)?.count ?? 0) + 1;
      failures.set(id, { count, next: steadyNow(clock) + Math.min(firstPause * 2 ** (count - 1), longestPause) });
    },
    done: (id) => void failures.delete(id),
  };
}
