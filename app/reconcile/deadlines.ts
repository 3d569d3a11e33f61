import type { Clock } from '../../src/kit/clock.ts';

/** By the clock of a process: when each deadline that it has seen is over, in milliseconds of the steady clock. */
const expiryTimes = new WeakMap<Pick<Clock, 'now'>, Map<string, number>>();

/** Limit of tracked deadlines. The oldest is evicted, and measured again when it is next seen. */
const maxSeen = 10_000;

/**
 * Whether a stored deadline (ms since the epoch) is over. What is left of it, at most `lengthMs`, is read from the time
 * of day when a process first sees it, and measured by the steady clock from then on: a time of day that jumps neither
 * ends it early nor leaves it open.
 */
export function isExpired(
  clock: Pick<Clock, 'now' | 'steadyNow'>,
  subject: string,
  deadline: number,
  lengthMs: number,
): boolean {
  const now = clock.steadyNow?.();
  if (now === undefined) return clock.now() >= deadline;
  const ends = expiryTimes.get(clock) ?? new Map<string, number>();
  expiryTimes.set(clock, ends);
  const key = `${subject} ${deadline}`;
  const end = ends.get(key) ?? now + Math.min(lengthMs, deadline - clock.now());
  ends.set(key, end);
  const [oldest] = ends.keys();
  if (ends.size > maxSeen && oldest !== undefined) ends.delete(oldest);
  return now >= end;
}

/** A deadline (ms since the epoch) from now on, which this process measures by the steady clock at once. */
export function deadlineIn(clock: Pick<Clock, 'now' | 'steadyNow'>, subject: string, lengthMs: number): number {
  const deadline = clock.now() + lengthMs;
  isExpired(clock, subject, deadline, lengthMs);
  return deadline;
}
