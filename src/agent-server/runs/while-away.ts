import type { Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';

/** How long (ms) until the database is asked again, while it is away. */
const RETRY_MS = 500;

/**
 * Asks the database again and again while it is away.
 *
 * @throws the signal's reason when that aborts between two attempts, and whatever else goes wrong.
 */
export async function whileAway<T>(ask: () => Promise<T>, clock: Clock, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await clock.sleep(RETRY_MS, signal);
    }
  }
}
