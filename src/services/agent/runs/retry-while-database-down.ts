import type { Clock } from '../../../kit/clock.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';

/** The retry interval (ms) while the database is unavailable. */
const retryMs = 500;

/** Retries a query while the database is unavailable. @throws the signal's reason if it aborts meanwhile. */
export async function retryWhileDatabaseDown<T>(ask: () => Promise<T>, clock: Clock, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await clock.sleep(retryMs, signal);
    }
  }
}
