import type { Clock } from '../../clock.ts';
import { isDatabaseUnavailable, TooManyConnectionsError } from '../../database/unavailable.ts';

const shortestWait = 250;
const longestWait = 5_000;

/** Runs a piece of work on the database until the database is there for it. */
export type Patiently = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Makes what waits for a database that restarts: a revision is not to fail for it. What is repeated has to bear that,
 * since it is unknown whether the attempt before was carried out.
 *
 * The work's other errors pass, and so does that the server has no connection left: that does not pass by waiting.
 * When `signal` aborts, its reason is thrown.
 */
export function patience(clock: Clock, signal: AbortSignal, log: (message: string) => void): Patiently {
  return async (work) => {
    for (let wait = shortestWait; ; wait = Math.min(wait * 2, longestWait)) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (!isDatabaseUnavailable(error) || error instanceof TooManyConnectionsError) throw error;
        log(`The database does not answer; trying again (${error instanceof Error ? error.message : String(error)})`);
        await clock.sleep(wait, signal);
      }
    }
  };
}
