/** How long a cancelled run may take to end by itself (ms): a held revision is discarded, and a runner kills after 7.5 s. */
const exitTimeoutMs = 6_000;

/** A run that SIGINT and SIGTERM cancel. */
export interface Cancellation {
  signal: AbortSignal;
  /** Leaves signals alone again. */
  end: () => void;
}

/**
 * Cancels a run on SIGINT and SIGTERM. Where it does not end by itself, the process exits with 1. @param lastWords called
 * just before
 */
export function cancelOnSignal(lastWords: () => void = () => undefined): Cancellation {
  const cancelled = new AbortController();
  const cancel = (): void => {
    cancelled.abort();
    setTimeout(() => {
      lastWords();
      process.exit(1);
    }, exitTimeoutMs).unref();
  };
  process.on('SIGINT', cancel).on('SIGTERM', cancel);
  return { signal: cancelled.signal, end: () => void process.off('SIGINT', cancel).off('SIGTERM', cancel) };
}
