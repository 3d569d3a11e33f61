import { pause, steadyNow } from '../clock.ts';
import type { Clock } from '../clock.ts';

/** Whom to tell that loading takes long. */
export interface LoadingOptions {
  log: (line: string) => void;
  clock: Clock;
}

/** How long (ms) something loads between two words about it. */
const EVERY_MS = 10_000;

/**
 * What `loading` comes to. Every 10 s that it takes the log has a warning that names it, so that whoever waits for an
 * agent that hangs sees where. Code that computes without a pause is told of when it pauses.
 *
 * @param what what is loaded, for a person: `graph "asker" of src/graph.ts`.
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
    await pause(clock, EVERY_MS, loaded);
    if (loaded.aborted) return;
    log(`warning: still loading ${what}, since ${Math.round((steadyNow(clock) - began) / 1000)} s.`);
  }
}
