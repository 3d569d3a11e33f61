import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import { whileAway } from '../runs/while-away.ts';
import { NotKept } from './not-kept.ts';

/** How a run waits for the database: until it is there, or the run is stopped. */
export interface RetryPolicy {
  clock: Clock;
  signal: AbortSignal;
}

/** Which run the code is in. The engine does not hand its whole configuration to every read of a checkpoint. */
const inside = new AsyncLocalStorage<RetryPolicy>();

/** The database can't be used at the moment. Its address, which the driver's words tell, is nobody's business. */
class DatabaseAway extends Error {
  override name = 'DatabaseAway';

  constructor(cause: unknown) {
    super('The database is away.', { cause });
  }
}

/** Has all that `work` asks of checkpoints wait for the database while it is away. */
export const withRetries = <T>(retryPolicy: RetryPolicy, work: () => Promise<T>): Promise<T> =>
  inside.run(retryPolicy, work);

/**
 * Asks the database, inside a run again and again while it is away. What is asked must do no harm when it is done twice:
 * where an answer was lost nobody knows whether it was done.
 *
 * @throws NotKept where the run was stopped meanwhile, DatabaseAway outside of a run, and whatever else goes wrong.
 */
export async function queryWithRetries<T>(ask: () => Promise<T>): Promise<T> {
  const retryPolicy = inside.getStore();
  try {
    return await (retryPolicy ? whileAway(ask, retryPolicy.clock, retryPolicy.signal) : ask());
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw new DatabaseAway(error);
    if (retryPolicy?.signal.aborted === true && error === retryPolicy.signal.reason)
      throw new NotKept('The run was stopped while the database was away: what it did last is not kept.');
    throw error;
  }
}
