import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../../kit/clock.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';

/** Refuses a write of a run that this process no longer holds. The engine checks writes at the end of a step only. */
export class RunOwnershipLost extends Error {
  override name = 'RunOwnershipLost';
}

/** The database is unavailable. Hides the driver's message, which contains the address. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';

  constructor(cause: unknown) {
    super('The database is unavailable.', { cause });
  }
}

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

/** How a run waits for the database: until it is available, or the run is stopped. */
export interface RetryPolicy {
  clock: Clock;
  signal: AbortSignal;
}

/** The current run. The engine does not pass its whole configuration to every checkpoint read. */
const inside = new AsyncLocalStorage<RetryPolicy>();

/** Retries all checkpoint operations of `work` while the database is unavailable. */
export const withRetries = <T>(retryPolicy: RetryPolicy, work: () => Promise<T>): Promise<T> =>
  inside.run(retryPolicy, work);

/**
 * Queries the database, inside a run with retries: the operation must be idempotent. @throws RunOwnershipLost if the
 * run was stopped, DatabaseUnavailable outside of a run, and any other error as it is.
 */
export async function queryWithRetries<T>(ask: () => Promise<T>): Promise<T> {
  const retryPolicy = inside.getStore();
  try {
    return await (retryPolicy ? retryWhileDatabaseDown(ask, retryPolicy.clock, retryPolicy.signal) : ask());
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw new DatabaseUnavailable(error);
    if (retryPolicy?.signal.aborted === true && error === retryPolicy.signal.reason)
      throw new RunOwnershipLost(
        'The run was stopped while the database was unavailable. Its last writes are discarded.',
      );
    throw error;
  }
}
