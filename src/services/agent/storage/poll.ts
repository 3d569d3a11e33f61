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

/** Calls `act` every `everyMs` milliseconds until the signal aborts, which ends a pause early. Logs failures. */
export async function poll(
  act: () => Promise<unknown>,
  {
    what,
    everyMs,
    clock,
    log,
    signal,
  }: { what: string; everyMs: number; clock: Clock; log: Logger; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    await act().catch(logFailure(log, `${what} failed`));
    await pause(clock, everyMs, signal);
  }
}
