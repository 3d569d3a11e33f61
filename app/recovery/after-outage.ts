import type { Logger } from '../../src/logger.ts';
import { type Clock, pause } from '../../src/clock.ts';
import { StorageError, toStorageError } from '../inbox/store-deliveries.ts';

/** How long after an attempt in vain the next one follows (ms). */
const againMs = 1_000;

/** What doing something after an outage needs. */
export interface AfterOutageOptions {
  clock: Pick<Clock, 'now' | 'sleep'>;
  log: Logger;
  /** Aborts when nothing is to be tried any more. */
  signal: AbortSignal;
}

/**
 * Does something once the database is there again: it is tried until it succeeds, for it needs the database itself.
 *
 * @param act is given when the outage was first noticed (ms since the epoch).
 * @returns to be called whenever the database was found to be unavailable; during one outage the first call counts.
 */
export function afterOutage(
  act: (since: number) => Promise<unknown>,
  { clock, log, signal }: AfterOutageOptions,
): () => void {
  let isAway = false;
  const tryUntilDone = async (since: number): Promise<void> => {
    while (!signal.aborted) {
      try {
        await act(since);
        return;
      } catch (error) {
        if (!(toStorageError(error) instanceof StorageError)) throw error;
        await pause(clock, againMs, signal);
      }
    }
  };
  return () => {
    if (isAway || signal.aborted) return;
    isAway = true;
    tryUntilDone(clock.now())
      .catch((error: unknown) => log.error(`The search for missed work failed and is retried later: ${String(error)}`))
      .finally(() => {
        isAway = false;
      });
  };
}
