import { messageOf } from '../../../kit/errors.ts';
import { type Clock, steadyNow, backoffMs } from '../../../kit/clock.ts';
import { isDatabaseUnavailable, TooManyConnectionsError } from '../../../kit/postgres/unavailable.ts';
import type { Logger } from '../../../kit/logger.ts';

const minWaitMs = 250;
const maxWaitMs = 5_000;
const maxTooManyConnectionsMs = 300_000;

/** Runs database work and retries it while the database is unavailable. */
export type Retry = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Creates the retry policy for database calls, so that a restart of the database fails no revision. The calls must be
 * idempotent, since the outcome of a failed attempt is unknown.
 *
 * Rethrows other errors at once, and "too many connections" after five minutes: an operator must then change something,
 * and the error says what. Throws the reason of `signal` when it aborts.
 */
export function retryPolicy(clock: Clock, signal: AbortSignal, log: Logger): Retry {
  return async (work) => {
    const connectionsDeadline = steadyNow(clock) + maxTooManyConnectionsMs;
    for (let wait = minWaitMs; ; wait = Math.min(wait * 2, maxWaitMs)) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error;
        if (error instanceof TooManyConnectionsError && steadyNow(clock) >= connectionsDeadline) throw error;
        log.warn(`The database does not answer; trying again (${messageOf(error)})`);
        await clock.sleep(wait, signal);
      }
    }
  };
}

const maxBackoffMs = 15 * 60_000;

/** Tracks the retry backoff of many items by their ids; the first retry is due after `firstDelayMs`. */
export function retryBackoff(clock: Pick<Clock, 'now'>, firstDelayMs: number) {
  const failures = new Map<string, { count: number; nextAt: number }>();
  return {
    isDue: (id: string): boolean => steadyNow(clock) >= (failures.get(id)?.nextAt ?? 0),
    /** An attempt failed or is running: doubles the delay. */
    failed(id: string): void {
      const count = (failures.get(id)?.count ?? 0) + 1;
      failures.set(id, { count, nextAt: steadyNow(clock) + backoffMs(count, firstDelayMs, maxBackoffMs) });
    },
    /** An attempt succeeded: resets the delay. */
    succeeded: (id: string): void => void failures.delete(id),
  };
}
