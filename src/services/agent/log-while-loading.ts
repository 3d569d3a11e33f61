import { steadyNow, type Clock } from '../../kit/clock.ts';
import { beat } from './api/event-stream.ts';
import type { Logger } from '../../kit/logger.ts';

export interface LoadingOptions {
  log: Logger;
  clock: Clock;
}

const everyMs = 10_000;

/**
 * Awaits `loading`, with a warning every 10 s, so that the user sees what hangs. @param what for a person: `graph
 * "asker" of src/graph.ts`.
 */
export async function logWhileLoading<T>(
  what: string,
  loading: Promise<T>,
  { log, clock }: LoadingOptions,
): Promise<T> {
  const loaded = new AbortController();
  const began = steadyNow(clock);
  const warn = () => log.warn(`still loading ${what}, since ${Math.round((steadyNow(clock) - began) / 1000)} s.`);
  const warning = beat(clock, loaded.signal, warn, everyMs);
  try {
    return await loading;
  } finally {
    loaded.abort();
    await warning;
  }
}
