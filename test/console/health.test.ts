import { expect, test } from 'vitest';
import { health as healthSchema } from '../../src/contract/control/health.ts';
import {
  hasFigures,
  isolatedPoints,
  plotData,
  plotKinds,
  summaryOf,
  placeLabels,
  rangeOf,
  startOf,
} from '../../src/console/pages/health/plots.ts';

const empty = {
  requests: 0,
  errors: 0,
  runs: 0,
  failed_runs: 0,
  interrupted_runs: 0,
  run_p50_ms: null,
  run_p95_ms: null,
  first_event_p50_ms: null,
  first_event_p95_ms: null,
  memory_bytes: null,
  cpu: null,
  queue_length: null,
};
const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
const health = healthSchema.parse({
  step_seconds: 120,
  points: [
    {
      ...empty,
      at: at(0),
      runs: 4,
      interrupted_runs: 1,
      run_p50_ms: 1_500,
      run_p95_ms: 90_000,
      memory_bytes: 92_000_000,
    },
    { ...empty, at: at(120) },
    { ...empty, at: at(240), requests: 1, memory_bytes: 80_400_000, cpu: 0.125 },
  ],
  deploys: [],
});
const kind = (title: string) => {
  const found = plotKinds.find((each) => each.title === title);
  if (!found) throw new Error(`There is no plot ${title}.`);
  return found;
};

test('plots runs per minute for every step length, with gaps where nothing was measured', () => {
  expect(plotData(health, kind('Runs a minute'))).toEqual([
    [0, 120, 240],
    [2, 0, 0],
    [0.5, 0, 0],
  ]);
  expect(plotData(health, kind('Memory'))[1]).toEqual([92_000_000, null, 80_400_000]);
});

test('says in a sentence what a plot shows', () => {
  expect(summaryOf(health, kind('Memory'))).toBe('Memory: highest 92 MB, latest 80.4 MB.');
  expect(summaryOf(health, kind('Run latency'))).toBe(
    'Run latency: p50 highest 1.5 s, latest 1.5 s; p95 highest 1.5 min, latest 1.5 min.',
  );
  expect(summaryOf(health, kind('CPU'))).toBe('CPU: highest 12.5 %, latest 12.5 %.');
  expect(summaryOf(health, kind('Queue length'))).toBe('Queue length: not measured.');
});

test('finds values between gaps, which no line would show', () => {
  expect(isolatedPoints([1, null, 2, 3, null, 4])).toEqual([0, 5]);
});

test('knows a period without any figure', () => {
  expect(hasFigures(health)).toBe(true);
  expect(hasFigures({ ...health, points: health.points.slice(1, 2) })).toBe(false);
});

test('shows one hour for an address without a known period', () => {
  expect(rangeOf('7d').ms).toBe(7 * 86_400_000);
  expect(rangeOf('<b>').id).toBe('1h');
  expect(rangeOf(undefined).id).toBe('1h');
});

test('a period starts no earlier than its deployment, but has some minutes at least', () => {
  const day = 24 * 3_600_000;
  const start = (createdAt: number) => startOf(rangeOf('24h'), new Date(createdAt).toISOString(), 10 * day);
  expect(start(0)).toBe(9 * day);
  expect(start(9.5 * day)).toBe(9.5 * day);
  expect(start(10 * day)).toBe(10 * day - 600_000);
});

test('labels of deploys that are close together do not overlap, and stay within the plot', () => {
  const labels = [100, 104, 108, 130, 190, 112, 116].map((x) => ({ x, width: 50 }));
  const placed = placeLabels(labels, { right: 200, gap: 4 });
  const boxes = placed.map(({ start, width, row }) => ({ row, from: start, to: start + width }));
  for (const [index, one] of boxes.entries()) {
    expect(one.to).toBeLessThanOrEqual(200);
    for (const other of boxes.slice(index + 1)) {
      expect(one.row !== other.row || one.to < other.from || other.to < one.from).toBe(true);
    }
  }
  // More below each other would cover the plot.
  expect(placed.map(({ x, row }) => `${x}:${row}`)).toEqual(['100:0', '104:1']);
});
