import { messageOf } from '../../errors.ts';
import { type Clock, steadyNow } from '../../clock.ts';
import { isDatabaseUnavailable, TooManyConnectionsError } from '../../postgres/unavailable.ts';

const shortestWait = 250;
const longestWait = 5_000;
const longestFull = 300_000;

/** Runs database work and retries it while the database is unavailable. */
export type Retrying = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Creates the retry policy for database calls, so that a restart of the database fails no revision. The calls must be
 * idempotent, since the outcome of a failed attempt is unknown.
 *
 * Rethrows other errors, and "too many connections" after five minutes: then an operator must change something, and the
 * error says what. Throws the reason of `signal` when it aborts.
 */
export function retryPolicy(clock: Clock, signal: AbortSignal, log: (message: string) => void): Retrying {
  return async (work) => {
    const fullUntil = steadyNow(clock) + longestFull;
    for (let wait = shortestWait; ; wait = Math.min(wait * 2, longestWait)) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error;
        if (error instanceof TooManyConnectionsError && steadyNow(clock) >= fullUntil) throw error;
        log(`The database does not answer; trying again (${messageOf(error)})`);
        await clock.sleep(wait, signal);
      }
    }
  };
}
