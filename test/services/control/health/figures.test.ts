import { expect, test } from 'vitest';
import { maxHealthPoints } from '../../../../src/contract/control/health.ts';
import type { TracedRun } from '../../../../src/contract/control/tracing-project.ts';
import { healthRange, toPoints } from '../../../../src/services/control/health/service.ts';
import {
  figuresOfRuns,
  observe,
  percentile,
  relativeError,
  type Histogram,
} from '../../../../src/services/control/health/figures.ts';

const histogramOf = (values: readonly number[]): Histogram => {
  const histogram: Histogram = [];
  for (const value of values) observe(histogram, value);
  return histogram;
};

/** Numbers between 0 and 1 that are the same in every run. */
function* randomNumbers(): Generator<number, never> {
  for (let seed = 42; ;) {
    seed = (seed * 48_271) % 2_147_483_647;
    yield seed / 2_147_483_647;
  }
}

test.each([
  ['a few ms', (random: number) => 1 + random * 20],
  ['some seconds', (random: number) => 1_000 + random * 9_000],
  ['from 1 ms to 20 h', (random: number) => 72_000_000 ** random],
])('percentiles of %s are within the relative error', (_, spread) => {
  const random = randomNumbers();
  const values = Array.from({ length: 2_000 }, () => spread(random.next().value));
  const sorted = values.toSorted((one, other) => one - other);
  const histogram = histogramOf(values);
  for (const share of [0.01, 0.5, 0.95, 1]) {
    const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
    const error = Math.abs((percentile(histogram, share) ?? 0) - exact) / exact;
    expect(error).toBeLessThanOrEqual(relativeError + 0.001);
  }
  expect(relativeError).toBeLessThanOrEqual(0.1);
});

test('there is no percentile of nothing, and the longest and shortest times are counted', () => {
  expect([percentile(null, 0.5), percentile([], 0.5), percentile([0, 0], 0.5)]).toEqual([null, null, null]);
  const histogram = histogramOf([0, -5, 1e12, Number.MAX_VALUE]);
  expect(histogram.reduce((sum, count) => sum + count, 0)).toBe(4);
  expect(histogram.length).toBeLessThanOrEqual(101);
});

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.UTC(2030, 5, 15, 10, 7, 30);

test.each([
  ['an hour', { from: now - hour }, 60],
  ['an hour by default', {}, 60],
  ['four hours', { from: now - 3.9 * hour }, 60],
  ['a day', { from: now - day }, 600],
  ['a short range of yesterday, whose minutes are merged', { from: now - 27 * hour, until: now - 26 * hour }, 900],
  ['a week', { from: now - 7 * day }, 3_600],
  ['30 days', { from: now - 30 * day }, 14_400],
  ['more than is kept', { from: 0 }, 14_400],
])(
  '%s has few enough points, all of its time, and nothing else',
  (_, requested: { from?: number; until?: number }, step) => {
    const range = healthRange(now, requested) ?? { from: 0, until: 0, stepSeconds: 0 };
    const { from = now - hour, until = now } = requested;
    const start = Math.max(from, now - 31 * day);
    expect(range.stepSeconds).toBe(step);
    expect(range.from).toBeLessThanOrEqual(start);
    expect(range.from).toBeGreaterThan(start - step * 1_000);
    expect(range.until).toBeGreaterThanOrEqual(until);
    expect(range.until).toBeLessThan(until + step * 1_000);
    const points = toPoints(range, []);
    expect(points.length).toBeLessThanOrEqual(maxHealthPoints);
    const times = points.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.map((__, index) => range.from + index * step * 1_000));
    expect(times.at(-1)).toBe(range.until - step * 1_000);
  },
);

test.each([[{ from: now, until: now - 1 }], [{ from: now + 1 }], [{ until: now - 32 * day }]])(
  'the range %j is empty',
  (requested) => {
    expect(healthRange(now, requested)).toBeUndefined();
  },
);

test('a point has the figures of its step, and null for what was not measured', () => {
  const range = { from: now - (now % minute), until: now - (now % minute) + 2 * minute, stepSeconds: 60 };
  const row = {
    at: new Date(range.from + minute),
    requests: 3,
    errors: 1,
    runs: 2,
    interrupted_runs: 0,
    failed_runs: 1,
    run_times: histogramOf([100, 100]),
    first_events: null,
    memory_bytes: 5,
    cpu_ms: 15_000,
    sampled_ms: 60_000,
    queue_length: 4,
  };
  const [empty, full] = toPoints(range, [row]);
  expect(empty).toMatchObject({ requests: 0, runs: 0, run_p50_ms: null, memory_bytes: null, cpu: null });
  expect(full).toMatchObject({ requests: 3, errors: 1, runs: 2, failed_runs: 1, first_event_p50_ms: null });
  expect(full).toMatchObject({ memory_bytes: 5, cpu: 0.25, queue_length: 4 });
  expect(Math.abs((full?.run_p95_ms ?? 0) - 100)).toBeLessThan(10);
});

const run = (changes: Partial<TracedRun>): TracedRun => ({
  id: '8a9a4b3e-5f2f-4a3c-9a55-0c1f8d9d1a11',
  thread_id: null,
  assistant_id: 'a',
  graph_id: 'a',
  revision_id: null,
  status: 'success',
  error: null,
  tokens: null,
  created_at: new Date(now).toISOString(),
  started_at: null,
  ended_at: new Date(now).toISOString(),
  ...changes,
});
const at = (ms: number): string => new Date(ms).toISOString();

test('runs count in the minute of their end, old ones in their quarter, and no others', () => {
  const old = now - 40 * hour;
  const runs = [
    run({ ended_at: at(now - minute), started_at: at(now - 3 * minute) }),
    run({ ended_at: at(now + hour), status: 'error', started_at: at(now + 2 * hour) }),
    run({ ended_at: at(now), status: 'timeout' }),
    run({ ended_at: at(now), status: 'interrupted' }),
    run({ ended_at: at(old) }),
    run({ ended_at: at(old + minute) }),
    run({ ended_at: at(now - 32 * day) }),
  ];
  const rows = figuresOfRuns('d', runs, now).map(({ step_seconds, at: from, runs: count, failed_runs, run_times }) => {
    return [step_seconds, minuteOf(from), count, failed_runs, run_times.reduce((sum, each) => sum + each, 0)];
  });
  expect(rows).toEqual([
    [60, '2030-06-15T10:06', 1, 0, 1],
    [60, '2030-06-15T10:07', 3, 2, 1],
    [900, '2030-06-13T18:00', 2, 0, 0],
  ]);
});
const minuteOf = (ms: number): string => at(ms).slice(0, 16);
