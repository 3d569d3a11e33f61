/** A deployment queue's state: one worker at a time, and no work is missed. Times are ms since the epoch. */
export interface QueueState {
  /** The lease holder, and when the lease expires without renewal. */
  holder: string | undefined;
  leaseUntil: number;
  /** How many notifications arrived, and how many of them a finished pass has processed. */
  notifiedSeq: number;
  processedSeq: number;
  /** When the queue is due without a notification. */
  nextAt: number | undefined;
  /** The time of a scheduled job that no worker has started yet. */
  jobAt: number | undefined;
}

/** The record after something happened to it, and the time of the job that this calls for. */
export interface QueueTransition<Extra = unknown> {
  record: QueueState;
  /** Send a job for this time, in the same transaction. */
  job: number | undefined;
  extra: Extra;
}

/** A new queue. */
export const newQueueState: QueueState = {
  holder: undefined,
  leaseUntil: 0,
  notifiedSeq: 0,
  processedSeq: 0,
  nextAt: undefined,
  jobAt: undefined,
};

/** How long a lease lasts at most without a sign (ms): what is left of one that seems longer is of a clock set back. */
export const maxLeaseMs = 60_000;

/** The longest pause of a queue (ms), except where GitHub requires more: looking again every hour does no harm. */
const maxRestMs = 60 * 60_000;

/** A job may come this much before its time (ms): it is timed from when its transaction began. */
const earlyMs = 1_000;

/** When an overdue job counts as lost (ms): an extra one has no effect. */
const lostJobMs = 5 * 60_000;

/** There is work, now or later. The worker that holds the lease learns it from the count. */
export function notifyQueue(before: QueueState, now: number, at = now): QueueTransition<undefined> {
  const record = withinBounds(before, now);
  if (at > now) {
    const nextAt = Math.min(at, futureOf(record.nextAt, now) ?? at);
    return { ...withJob({ ...record, nextAt }, at, now), extra: undefined };
  }
  const counted = { ...record, notifiedSeq: record.notifiedSeq + 1 };
  // The holder sees the count on release; the job covers its crash.
  return { ...withJob(counted, isHeld(record, now) ? record.leaseUntil : now, now), extra: undefined };
}

/** The result of a lease request: `nextAt` is when the last pass scheduled the next one. */
export type LeaseResult = { kind: 'taken'; nextAt: number | undefined } | { kind: 'held' } | { kind: 'not-due' };

/** Gives the lease to `holder`, unless it is held, or nothing is due and a job is scheduled for later. */
export function acquireLease(
  before: QueueState,
  holder: string,
  now: number,
  leaseMs: number,
): QueueTransition<LeaseResult> {
  // Assume that this worker runs the scheduled job. If it does not, that job still runs later.
  const record = { ...withinBounds(before, now), jobAt: futureOf(before.jobAt, now + earlyMs) };
  if (isHeld(record, now)) return { ...withJob(record, record.leaseUntil, now), extra: { kind: 'held' } };
  const isDue =
    record.holder !== undefined ||
    record.notifiedSeq !== record.processedSeq ||
    (record.nextAt !== undefined && record.nextAt <= now + earlyMs);
  if (!isDue) {
    const waiting = record.nextAt === undefined ? { record, job: undefined } : withJob(record, record.nextAt, now);
    return { ...waiting, extra: { kind: 'not-due' } };
  }
  const nextAt = futureOf(record.nextAt, now + earlyMs);
  return {
    record: { ...record, holder, leaseUntil: now + leaseMs, nextAt },
    job: undefined,
    extra: { kind: 'taken', nextAt },
  };
}

/** Releases the lease, unless the queue was notified since `notifiedSeq` was read. `again` schedules the next pass. */
export function releaseLease(
  record: QueueState,
  { holder, notifiedSeq }: { holder: string; notifiedSeq: number },
  now: number,
  again: number | undefined,
): QueueTransition<boolean> {
  if (record.holder !== holder) return { record, job: undefined, extra: true };
  if (record.notifiedSeq !== notifiedSeq) return { record, job: undefined, extra: false };
  const requested = futureOf(record.nextAt, now);
  const nextAt = again === undefined ? requested : Math.min(again, requested ?? again);
  const free = { ...record, holder: undefined, leaseUntil: 0, processedSeq: notifiedSeq, nextAt };
  return { ...(nextAt === undefined ? { record: free, job: undefined } : withJob(free, nextAt, now)), extra: true };
}

/** Frees the lease of a dead process. */
export const freeLease = (record: QueueState, now: number): QueueTransition<undefined> => ({
  ...withJob({ ...record, leaseUntil: 0, jobAt: futureOf(record.jobAt, now) }, now, now),
  extra: undefined,
});

/**
 * The record where the clock may have been set back. A lease lasts no longer from now on than the longest one, so that
 * its holder is never one of two; a look that is farther away than any is due now.
 */
const withinBounds = (record: QueueState, now: number): QueueState => ({
  ...record,
  leaseUntil: Math.min(record.leaseUntil, now + maxLeaseMs),
  nextAt: record.nextAt !== undefined && record.nextAt > now + maxRestMs ? now : record.nextAt,
});

const isHeld = ({ holder, leaseUntil }: QueueState, now: number): boolean => holder !== undefined && leaseUntil > now;

const futureOf = (at: number | undefined, now: number): number | undefined =>
  at !== undefined && at > now ? at : undefined;

function withJob(record: QueueState, at: number, now: number): { record: QueueState; job: number | undefined } {
  const isThere = record.jobAt !== undefined && record.jobAt <= at && record.jobAt > now - lostJobMs;
  return isThere ? { record, job: undefined } : { record: { ...record, jobAt: at }, job: at };
}
