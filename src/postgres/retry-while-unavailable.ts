import { type Clock, steadyNow } from '../clock.ts';
import { isDatabaseUnavailable } from './unavailable.ts';

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

/** How a start waits for its database. */
export interface RetryOptions {
  clock: Clock;
  /** Milliseconds after which the error is thrown; 45,000 when absent. */
  forMs?: number;
  /** The errors that are worth another attempt; all that mean an unavailable database when absent. */
  isPassing?: (error: unknown) => boolean;
}

/**
 * Does what a start needs of its database, again while that is unavailable. The work has to bear being done twice.
 *
 * @throws the last error when the time is over, and any other error at once.
 */
export async function retryWhileUnavailable<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, forMs = 45_000, isPassing = isDatabaseUnavailable } = options;
  const until = steadyNow(clock) + forMs;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || steadyNow(clock) + wait > until) throw error;
      await clock.sleep(wait);
    }
  }
}
