import type { Clock } from '../clock.ts';

/** The work's value, or that its time was over first. */
export type Bounded<T> = { kind: 'done'; value: T } | { kind: 'out-of-time' };

/** Gives `work` at most `ms`; its signal ends with the time, or with `parent`. Rejects as `work` does. */
export async function within<T>(
  clock: Clock,
  ms: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Bounded<T>> {
  const over = new AbortController();
  const done = new AbortController();
  const signal = parent ? AbortSignal.any([parent, over.signal]) : over.signal;
  const timer = clock.sleep(ms, done.signal).then(
    () => over.abort(new Error(`not done within ${ms} ms`)),
    () => undefined,
  );
  const outOfTime = { kind: 'out-of-time' as const };
  try {
    return await Promise.race([
      work(signal).then(
        (value) => ({ kind: 'done' as const, value }),
        // What the end of the time made it throw says nothing more than that.
        (error: unknown) => (over.signal.aborted ? outOfTime : Promise.reject(error)),
      ),
      timer.then(() => outOfTime),
    ]);
  } finally {
    done.abort();
  }
}

/**
 * Lets `work` go on for `graceMs` after `parent` has ended: a write that is cut off may have taken effect all the same,
 * and whoever waits a moment longer knows.
 */
export async function finishing<T>(
  clock: Clock,
  graceMs: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (!parent) return work(undefined);
  parent.throwIfAborted();
  const late = new AbortController();
  const done = new AbortController();
  const cut = () => {
    void clock.sleep(graceMs, done.signal).then(
      () => late.abort(parent.reason),
      () => undefined,
    );
  };
  parent.addEventListener('abort', cut, { once: true });
  try {
    return await work(late.signal);
  } finally {
    parent.removeEventListener('abort', cut);
    done.abort();
  }
}
