import { stackOf } from '../../../kit/errors.ts';
import { pause, type Clock } from '../../../kit/clock.ts';
import type { Logger } from '../../../kit/logger.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';

/** Logs the failure of work that is repeated, unless the database is unavailable. */
export const logFailure =
  (log: Logger, what: string) =>
  (error: unknown): void => {
    if (!isDatabaseUnavailable(error)) log.error(`${what}: ${stackOf(error)}`);
  };

interface PollOptions {
  what: string;
  everyMs: number;
  /** Whether the first call comes after one interval. */
  isLate?: boolean;
  clock: Clock;
  log: Logger;
}

/** Calls `act` every `everyMs` milliseconds between `begin` and `end`, which waits for the current call. Logs failures. */
export function polling(act: () => Promise<unknown>, { what, everyMs, isLate = false, clock, log }: PollOptions) {
  const stop = new AbortController();
  const { signal } = stop;
  let polls: Promise<void> | undefined;
  const poll = async (): Promise<void> => {
    if (isLate) await pause(clock, everyMs, signal);
    while (!signal.aborted) {
      await act().catch(logFailure(log, `${what} failed`));
      await pause(clock, everyMs, signal);
    }
  };
  return {
    /** Aborts at the end. */
    signal,
    begin(): void {
      polls ??= poll();
    },
    async end(): Promise<void> {
      stop.abort();
      await polls;
    },
  };
}
