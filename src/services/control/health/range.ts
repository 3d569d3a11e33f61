import { maxHealthPoints, type HealthPoint } from '../../../contract/control/health.ts';
import { type HealthRow, floorTo, figureRetentionMs, mergeLimit } from './figures.ts';
import { percentile } from './histogram.ts';

const minuteSteps = [60, 120, 300, 600];
const quarterSteps = [900, 1_800, 3_600, 7_200, 10_800, 14_400];

/** A whole number of steps, in milliseconds since the epoch. */
export interface HealthRange {
  from: number;
  /** The end of the last step. */
  until: number;
  stepSeconds: number;
}

const countSteps = (from: number, until: number, seconds: number): number =>
  Math.ceil((until - floorTo(from, seconds)) / (seconds * 1_000));

/**
 * The range of a request with the shortest step that makes at most `maxHealthPoints` points, limited to the retention
 * period and the past. Undefined where that is empty.
 */
export function healthRange(
  now: number,
  { from, until = now }: { from?: number | undefined; until?: number | undefined },
): HealthRange | undefined {
  const end = Math.min(until, now);
  const start = Math.max(from ?? end - 3_600_000, now - figureRetentionMs);
  if (start >= end) return undefined;
  // Where minutes are merged, shorter steps would show all counts of a quarter of an hour in its first step.
  const steps = start < mergeLimit(now) ? quarterSteps : [...minuteSteps, ...quarterSteps];
  const stepSeconds = steps.find((step) => countSteps(start, end, step) <= maxHealthPoints) ?? 14_400;
  const first = floorTo(start, stepSeconds);
  return { from: first, until: first + countSteps(start, end, stepSeconds) * stepSeconds * 1_000, stepSeconds };
}

/** The points of a range: one for each step, also where there are no rows. */
export function toPoints({ from, until, stepSeconds }: HealthRange, rows: readonly HealthRow[]): HealthPoint[] {
  const byTime = new Map(rows.map((row) => [row.at.getTime(), row]));
  const step = stepSeconds * 1_000;
  return Array.from({ length: (until - from) / step }, (_, index) => {
    const at = from + index * step;
    return toPoint(at, byTime.get(at));
  });
}

const toPoint = (at: number, row: HealthRow | undefined): HealthPoint => ({
  at: new Date(at).toISOString(),
  requests: row?.requests ?? 0,
  errors: row?.errors ?? 0,
  runs: row?.runs ?? 0,
  failed_runs: row?.failed_runs ?? 0,
  interrupted_runs: row?.interrupted_runs ?? 0,
  run_p50_ms: percentile(row?.run_times ?? null, 0.5),
  run_p95_ms: percentile(row?.run_times ?? null, 0.95),
  first_event_p50_ms: percentile(row?.first_events ?? null, 0.5),
  first_event_p95_ms: percentile(row?.first_events ?? null, 0.95),
  memory_bytes: row?.memory_bytes ?? null,
  cpu: row && row.sampled_ms > 0 ? row.cpu_ms / row.sampled_ms : null,
  queue_length: row?.queue_length ?? null,
});
