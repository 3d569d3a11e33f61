import { systemClock } from '../../../kit/clock.ts';
import { healthQuery, maxHealthPoints, type Health, type HealthPoint } from '../../../contract/control/health.ts';
import { tenantFinders } from '../service/tenant-finders.ts';
import { Call } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { accepted, againstRules } from '../validation/refusal.ts';
import { figureRetentionMs, floorTo, mergeLimit, percentile, type HealthRange, type HealthRow } from './figures.ts';

/** The health figures of deployments (an addition of ours). */
export function healthOperations(settings: ServiceDependencies) {
  const { store, clock = systemClock } = settings;
  const { ownDeployment } = tenantFinders(settings);
  return {
    async deploymentHealth(id: string, query: unknown): Promise<Health> {
      const call = new Call('read health', 'GET', `/v2/deployments/${id}/health`);
      const { from, until } = call.query(healthQuery, query);
      const deployment = await ownDeployment(call, id);
      const found = healthRange(clock.now(), { from: timeOf(from), until: timeOf(until) });
      const range = call.value(found ? accepted(found) : againstRules([emptyRange]));
      const [rows, deploys] = await Promise.all([
        store.readHealth(deployment.id, range),
        store.readDeploys(deployment.id, range),
      ]);
      return {
        step_seconds: range.stepSeconds,
        points: toPoints(range, rows),
        deploys: deploys.map(({ revision_id, at }) => ({ revision_id, at: at.toISOString() })),
      };
    },
  };
}

const emptyRange =
  'The range is empty. Choose a from that is before until and before now, and an until of the last 31 days.';

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));

const minuteSteps = [60, 120, 300, 600];
const quarterSteps = [900, 1_800, 3_600, 7_200, 10_800, 14_400];

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
