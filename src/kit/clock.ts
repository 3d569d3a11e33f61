import { setTimeout } from 'node:timers/promises';

/** An injected clock: the system's in programs, a simulated one in tests. */
export interface Clock {
  /** Milliseconds since the epoch: the time of day, which jumps when it is set. */
  now(): number;
  /** Milliseconds of a monotonic clock, for durations. Absent if `now` is monotonic too. */
  steadyNow?(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

// `performance.now` loads more of Node's own modules, which every step would pay for.
const monotonicMs = (): number => Math.round(Number(process.hrtime.bigint()) / 1e6);
/** The time of day at which the monotonic clock would have read 0. */
const monotonicOrigin = Date.now() - monotonicMs();

/** The machine's own time. A pending sleep keeps the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  steadyNow: monotonicMs,
  sleep: (ms, signal) =>
    setTimeout(ms, undefined, { signal }).catch((error: unknown) => {
      throw signal?.aborted ? signal.reason : error;
    }),
};

/** The time of day when this module was loaded, continued by the monotonic clock. */
export const steadyClock: Clock = {
  now: () => monotonicOrigin + monotonicMs(),
  sleep: (ms, signal) => systemClock.sleep(ms, signal),
};

/** If the time of day goes back by at least this much (ms), it was set; smaller steps are ordinary synchronization. */
export const setBackMs = 60_000;

/** Milliseconds for a deadline or a duration within this process, whatever happens to the time of day. */
export const steadyNow = (clock: Pick<Clock, 'now' | 'steadyNow'>): number => clock.steadyNow?.() ?? clock.now();

/** Waits until `ms` milliseconds are over or the signal aborts, whichever comes first: where an early end is no failure. */
export async function pause(clock: Pick<Clock, 'sleep'>, ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/** Runs work with a signal that aborts after `ms` milliseconds, or when `outer` does. Waits for the work in any case. */
export async function withTimeout<T>(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<T> {
  const [done, ended] = [new AbortController(), new AbortController()];
  const end = () => ended.abort(outer?.reason);
  if (outer?.aborted) end();
  // A combined signal would stay with `outer`, which may live as long as the program.
  outer?.addEventListener('abort', end, { signal: done.signal });
  void clock.sleep(ms, done.signal).then(
    () => ended.abort(new DOMException(`no answer within ${ms / 1_000} s`, 'TimeoutError')),
    () => undefined,
  );
  try {
    return await work(ended.signal);
  } finally {
    done.abort();
  }
}

/** Whether `work` ends within `ms` milliseconds; it goes on where it does not. */
export async function endsWithin(clock: Pick<Clock, 'sleep'>, ms: number, work: Promise<unknown>): Promise<boolean> {
  const done = new AbortController();
  try {
    return await Promise.race([work.then(() => true), pause(clock, ms, done.signal).then(() => false)]);
  } finally {
    done.abort();
  }
}

/** Resolves when the signal aborts. */
export const untilAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** Resolves as the promise does, or rejects with the signal's reason if that aborts first. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** An exponential delay (ms): the first after one failure, twice as long after each further one, up to the longest. */
export const backoffMs = (failures: number, firstMs: number, longestMs: number): number =>
  Math.min(longestMs, firstMs * 2 ** (failures - 1));
