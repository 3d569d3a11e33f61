import type { TracedRun } from '../../../contract/control/tracing-project.ts';

/** The counts of a deployment in one minute, or in a quarter of an hour once they are old. */
export interface Figures {
  requests: number;
  errors: number;
  runs: number;
  failed_runs: number;
  interrupted_runs: number;
  /** The durations of runs. */
  run_times: Histogram;
  /** The times from a request for a run's stream to its first event. */
  first_events: Histogram;
  memory_bytes: number | null;
  /** The CPU time, and the time span in which it was used. */
  cpu_ms: number;
  sampled_ms: number;
  queue_length: number | null;
}

/** The figures of a stored row. */
export interface FiguresRow extends Figures {
  deployment_id: string;
  step_seconds: number;
  /** The start of the period (ms since the epoch). */
  at: number;
}

/** The figures of one step of a range. */
export interface HealthRow extends Omit<Figures, 'run_times' | 'first_events'> {
  at: Date;
  run_times: number[] | null;
  first_events: number[] | null;
}

/** A whole number of steps, in milliseconds since the epoch. */
export interface HealthRange {
  from: number;
  /** The end of the last step. */
  until: number;
  stepSeconds: number;
}

const hourMs = 3_600_000;
const minuteSeconds = 60;
/** The length (s) of the periods into which old minutes are merged. */
export const quarterSeconds = 900;
/** How long figures are kept by the minute, and altogether. */
export const minuteRetentionMs = 26 * hourMs;
export const figureRetentionMs = 31 * 24 * hourMs;

/** The start of the period of this length (s) that a time (ms) is in. */
export const floorTo = (at: number, seconds: number): number => at - (at % (seconds * 1_000));

/** Minutes that start before this time are merged. */
export const mergeLimit = (now: number): number => floorTo(now - minuteRetentionMs, quarterSeconds);

/** Collects figures that are not stored yet, one row per deployment and period. */
export function pendingFigures(max = Infinity) {
  const rows = new Map<string, FiguresRow>();
  return {
    rows: (): FiguresRow[] => [...rows.values()],
    /** The figures of a deployment at a time. Beyond `max` rows, returns figures that are not stored. */
    of(deploymentId: string, at: number, now: number): Figures {
      const step = at < mergeLimit(now) ? quarterSeconds : minuteSeconds;
      const start = floorTo(at, step);
      const key = `${start} ${step} ${deploymentId}`;
      const found = rows.get(key);
      if (found) return found;
      const row = { deployment_id: deploymentId, step_seconds: step, at: start, ...noFigures() };
      if (rows.size < max) rows.set(key, row);
      return row;
    },
  };
}
export type PendingFigures = ReturnType<typeof pendingFigures>;

const noFigures = (): Figures => ({
  requests: 0,
  errors: 0,
  runs: 0,
  failed_runs: 0,
  interrupted_runs: 0,
  run_times: [],
  first_events: [],
  memory_bytes: null,
  cpu_ms: 0,
  sampled_ms: 0,
  queue_length: null,
});

/** The statuses of failed runs. An interrupted run waits for a person, or was cancelled. */
const failedStatuses = new Set<TracedRun['status']>(['error', 'timeout']);

/** The figures of ended runs. An end in the future counts as now; runs beyond the retention period are ignored. */
export function figuresOfRuns(deploymentId: string, runs: readonly TracedRun[], now: number): FiguresRow[] {
  const pending = pendingFigures();
  for (const { status, started_at, ended_at } of runs) {
    const end = Date.parse(ended_at);
    if (end < now - figureRetentionMs) continue;
    const figures = pending.of(deploymentId, Math.min(end, now), now);
    figures.runs += 1;
    if (failedStatuses.has(status)) figures.failed_runs += 1;
    if (status === 'interrupted') figures.interrupted_runs += 1;
    if (started_at !== null) observe(figures.run_times, end - Date.parse(started_at));
  }
  return pending.rows();
}

/** The ratio of a bucket's upper bound to its lower one. */
const growth = 1.2;
/** The largest relative error of a percentile, between 1 ms and a day. */
export const relativeError = (growth - 1) / (growth + 1);
/** The bucket for all durations beyond 23 hours. */
const lastBucket = 100;

/**
 * Counts of durations in logarithmic buckets, without empty ones at the end. Bucket 0 counts durations up to 1 ms, bucket
 * `i` those above `growth ** (i - 1)` and up to `growth ** i`. Histograms are merged by adding their counts.
 */
export type Histogram = number[];

const bucketOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(lastBucket, Math.ceil(Math.log(ms) / Math.log(growth)));

/** Counts a duration. */
export function observe(histogram: Histogram, ms: number): void {
  const bucket = bucketOf(ms);
  while (histogram.length <= bucket) histogram.push(0);
  histogram[bucket] = (histogram[bucket] ?? 0) + 1;
}

/** A percentile (ms), within `relativeError`; null without durations. @param share 0.95 for the 95th. */
export function percentile(histogram: readonly number[] | null, share: number): number | null {
  const counts = histogram ?? [];
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(share * total));
  let seen = 0;
  const bucket = counts.findIndex((count) => (seen += count) >= rank);
  // The value whose relative distance to both bounds is the same.
  return Number(((2 * growth ** bucket) / (growth + 1)).toPrecision(4));
}
