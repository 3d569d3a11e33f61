import type { Clock } from '../../kit/clock.ts';

/** The work's value, or that its time was over first, or that it was ended from outside. */
type TimedResult<T> = { kind: 'done'; value: T } | { kind: 'out-of-time' } | { kind: 'ended' };

/**
 * Gives `work` at most `ms`; its signal ends with the time, or with `parent`. Does not wait for work that ignores
 * its signal. Rejects as `work` does, except with errors that the abort caused.
 */
export async function withTimeLimit<T>(
  clock: Clock,
  ms: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<TimedResult<T>> {
  const over = new AbortController();
  const done = new AbortController();
  const outer = parent ? [parent] : [];
  const signal = AbortSignal.any([...outer, over.signal]);
  const early = () => ({ kind: parent?.aborted ? ('ended' as const) : ('out-of-time' as const) });
  const timer = clock.sleep(ms, AbortSignal.any([...outer, done.signal])).then(() => {
    over.abort(new Error(`not done within ${ms} ms`));
    return early();
  }, early);
  try {
    return await Promise.race([
      work(signal).then(
        (value) => ({ kind: 'done' as const, value }),
        (error: unknown) => (signal.aborted ? early() : Promise.reject(error)),
      ),
      timer,
    ]);
  } finally {
    done.abort();
  }
}

/**
 * Lets `work` go on for `graceMs` after `parent` has aborted, and then aborts its signal: an interrupted write may
 * still have taken effect, and a short wait can settle it.
 */
export async function withGrace<T>(
  clock: Clock,
  graceMs: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const done = new AbortController();
  const cut = () => {
    void clock.sleep(graceMs, done.signal).then(
      () => late.abort(parent?.reason),
      () => undefined,
    );
  };
  if (parent?.aborted) cut();
  else parent?.addEventListener('abort', cut, { once: true });
  try {
    return await work(late.signal);
  } finally {
    parent?.removeEventListener('abort', cut);
    done.abort();
  }
}
