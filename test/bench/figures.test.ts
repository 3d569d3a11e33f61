import { expect, test } from 'vitest';
import { figureOf, figuresOf, targetWords, type Measured } from '../../bench/figure.ts';
import { interleave, median, quantile, spread } from '../../bench/rounds.ts';
import { roundOf } from '../../bench/run-load.ts';
import { tableOf } from '../../bench/table.ts';

const poll: Measured = {
  figure: 'poll-cpu',
  unit: 'us CPU',
  ours: 110.04,
  floor: 100,
  peer: 220,
  notes: { ours: 'our client', floor: 'node:http', peer: 'fetch' },
  targets: [
    { of: 'floor', most: 1.25 },
    { of: 'peer', most: 0.4 },
  ],
  spread: 0.034,
};

test('a figure is written down with its ratios', () => {
  expect(figureOf(poll)).toEqual({
    figure: 'poll-cpu',
    unit: 'us CPU',
    ours: 110,
    floor: 100,
    peer: 220,
    ratio_to_floor: 1.1,
    ratio_to_peer: 0.5002,
  });
});

test('without a floor or a peer, or over a floor of nothing, there is no ratio', () => {
  const { floor: _, peer: __, ...alone } = poll;
  expect(figureOf(alone)).toMatchObject({ floor: null, peer: null, ratio_to_floor: null, ratio_to_peer: null });
  expect(figureOf({ ...poll, floor: 0 })).toMatchObject({ floor: 0, ratio_to_floor: null });
});

test.each<[string, Measured['targets'][number], string]>([
  ['a ratio within its bound', { of: 'floor', most: 1.25 }, 'at most 1.25 of the floor: held'],
  ['a ratio beyond its bound', { of: 'peer', most: 0.4 }, 'at most 0.4 of the peer: MISSED'],
  ['what should be much and is not', { of: 'ours', least: 200 }, 'at least 200 us CPU: MISSED'],
  ['what lies between', { of: 'ours', least: 100, most: 120 }, 'at most 120 and at least 100 us CPU: held'],
])('%s is told', (_, target, words) => {
  expect(targetWords(poll, target)).toBe(words);
});

test('a target without a measured other is not called held', () => {
  const { peer: _, ...alone } = poll;
  expect(targetWords(alone, { of: 'peer', most: 1 })).toBe('at most 1 of the peer: not measured');
});

test('the table names everything that was compared', () => {
  const table = tableOf([poll]);
  for (const words of [
    'poll-cpu (us CPU)',
    '±3 %',
    'our client',
    'node:http',
    'fetch',
    '× 1.1',
    '1.25 of the floor: held',
  ]) {
    expect(table).toContain(words);
  }
});

test('contenders take turns, another one first each time, and warmups do not count', async () => {
  const order: string[] = [];
  const contender = (name: string) => ({
    round: async () => order.push(name),
  });
  const measured = await interleave({ a: contender('a'), b: contender('b') }, { rounds: 2, warmups: 1 });
  expect(order.join('')).toBe('abbaab');
  expect(measured).toEqual({ a: [4, 5], b: [3, 6] });
});

test('the median and the spread are those of the rounds', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(spread([100, 90, 110, 95, 105])).toBeCloseTo(0.05);
  expect(() => median([])).toThrow('no round');
});

test('a quantile lies between two values where it falls there', () => {
  const hundred = Array.from({ length: 101 }, (_, at) => at);
  expect(quantile(hundred.toReversed(), 0.99)).toBe(99);
  expect(quantile([10, 20], 0.25)).toBe(12.5);
  expect(quantile([7], 0.99)).toBe(7);
});

const runs: Measured = {
  figure: 'run-wait-10',
  unit: 'runs/s',
  ours: 120,
  floor: 160,
  notes: { ours: 'our server', floor: 'the engine' },
  times: { ours: { p50: 80, p99: 200 }, floor: { p50: 60, p99: 90 } },
  targets: [
    { of: 'floor', least: 0.6 },
    { of: 'p50', most: 3 },
  ],
};

test('how long each of many took is written down as figures of its own', () => {
  expect(figuresOf(poll).map(({ figure }) => figure)).toEqual(['poll-cpu']);
  expect(figuresOf(runs)).toEqual([
    expect.objectContaining({ figure: 'run-wait-10', unit: 'runs/s', ours: 120, ratio_to_floor: 0.75 }),
    expect.objectContaining({ figure: 'run-wait-10-p50', unit: 'ms', ours: 80, floor: 60, peer: null }),
    expect.objectContaining({ figure: 'run-wait-10-p99', unit: 'ms', ours: 200, floor: 90, peer: null }),
  ]);
});

test('the slowest are held to the middle', () => {
  expect(targetWords(runs, { of: 'p50', most: 3 })).toBe('p99 at most 3 times p50: held');
  expect(targetWords(runs, { of: 'p50', most: 2 })).toBe('p99 at most 2 times p50: MISSED');
  expect(targetWords(poll, { of: 'p50', most: 3 })).toBe('p99 at most 3 times p50: not measured');
  expect(tableOf([runs])).toContain('p50 60 ms, p99 90 ms; the engine');
});

test('a round makes all its runs, so many at once and never more', async () => {
  let under = 0;
  let most = 0;
  const round = await roundOf({ count: 10, atOnce: 3 }, async () => {
    most = Math.max(most, (under += 1));
    await new Promise((resolve) => setImmediate(resolve));
    under -= 1;
    return { last: 5, first: 1 };
  });
  expect(most).toBe(3);
  expect(round).toMatchObject({ times: Array(10).fill(5), toFirst: Array(10).fill(1), toFirstUpdate: [] });
});

test('a round whose time is over begins no other run', async () => {
  const { times } = await roundOf({ count: 10, atOnce: 2, withinMs: 0 }, async () => ({ last: 1 }));
  expect(times.length).toBeLessThan(10);
});
