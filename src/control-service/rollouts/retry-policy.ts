import { type Clock, steadyNow } from '../../clock.ts';
import { isDatabaseUnavailable, TooManyConnectionsError } from '../../postgres/unavailable.ts';

const shortestWait = 250;
const longestWait = 5_000;
const longestFull = 300_000;

/** Runs a piece of work on the database until the database is there for it. */
export type Retrying = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Makes what waits for a database that restarts: a revision is not to fail for it. What is repeated has to bear that,
 * since it is unknown whether the attempt before was carried out.
 *
 * The work's other errors pass, and so does after five minutes that the server has no connection left: somebody has to
 * change something then, and the error says what.
 * When `signal` aborts, its reason is thrown.
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
        log(`The database does not answer; trying again (${error instanceof Error ? error.message : String(error)})`);
        await clock.sleep(wait, signal);
      }
    }
  };
}
