import { pause, steadyNow } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';

/** Where to log slow loading. */
export interface LoadingOptions {
  log: Logger;
  clock: Clock;
}

/** The interval (ms) of the warnings. */
const everyMs = 10_000;

/**
 * Awaits `loading`. Logs a warning with its name every 10 s, so that the user sees what hangs. Synchronous code delays the
 * warning.
 *
 * @param what the loaded module, for a person: `graph "asker" of src/graph.ts`.
 */
export async function logWhileLoading<T>(
  what: string,
  loading: Promise<T>,
  { log, clock }: LoadingOptions,
): Promise<T> {
  const loaded = new AbortController();
  const logging = logUntil(loaded.signal, what, { log, clock });
  try {
    return await loading;
  } finally {
    loaded.abort();
    await logging;
  }
}

async function logUntil(loaded: AbortSignal, what: string, { log, clock }: LoadingOptions): Promise<void> {
  const began = steadyNow(clock);
  for (;;) {
    await pause(clock, everyMs, loaded);
    if (loaded.aborted) return;
    log.warn(`still loading ${what}, since ${Math.round((steadyNow(clock) - began) / 1000)} s.`);
  }
}
