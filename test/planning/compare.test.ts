import { describe, expect, test } from 'vitest';
import { differs, fewerIn, holm, largerThan, shiftOf } from '../../src/comparison-statistics.ts';
import { compareAll, isDecided, measures, pairOf, type Pair, type Sample } from '../../src/planning/compare.ts';
import { hello } from '../deploy/deploy-fixture.ts';

const usual: Sample = { answer: 'right', firstEventMs: 300, totalMs: 1_000, nodes: ['ask', 'say'], tokens: 100 };

/** Pairs with noise that is the same in every run. */
const pairs = (count: number, change: (index: number) => Partial<Sample>): Pair[] =>
  Array.from({ length: count }, (_, index) => {
    const noise = (seed: number) => ((index * seed) % 41) * 10 - 200;
    const live = { ...usual, totalMs: 1_000 + noise(7), firstEventMs: 300 + noise(7) / 4 };
    const changed = { ...usual, totalMs: 1_000 + noise(23), firstEventMs: 300 + noise(23) / 4 };
    return { live, changed: { ...changed, ...change(index) } };
  });

const verdictsOf = (of: Pair[]) =>
  Object.fromEntries((compareAll([of], 3)[0] ?? []).map(({ measure, verdict }) => [measure, verdict]));

const fine = Object.fromEntries(measures.map((each) => [each, 'no-worse']));

test('computes what the books compute', () => {
  // Fisher's tea: 3 of 4 against 1 of 4.
  expect(fewerIn({ live: 3, liveOf: 4, changed: 1, changedOf: 4 })).toBeCloseTo(17 / 70);
  expect(differs({ live: 3, liveOf: 4, changed: 1, changedOf: 4 })).toBeCloseTo(34 / 70);
  expect(largerThan([1, 2, 3, 4, 5], 0)).toBeCloseTo(1 / 32);
  expect(largerThan([-1, 2, 3, 4, 5], 0)).toBeCloseTo(2 / 32);
  expect(largerThan([1, 1], 0)).toBeCloseTo(1 / 4);
  expect(largerThan([], 0)).toBe(1);
  expect(shiftOf([1, 2, 9])).toBe(3.5);
  expect(holm([0.03, 0.004, 0.001], 0.01)).toEqual([false, true, true]);
});

describe('two agents', () => {
  test.each<[string, (index: number) => Partial<Sample>, Record<string, string>]>([
    ['that are alike', () => ({}), {}],
    [
      'of which one is right less often',
      (index) => (index % 10 < 4 ? { answer: 'wrong' } : {}),
      { 'pass-rate': 'worse' },
    ],
    ['of which one uses twice the tokens', () => ({ tokens: 200 }), { tokens: 'worse' }],
    ['of which one takes 3 % more tokens', () => ({ tokens: 103 }), {}],
    [
      'of which one visits another node in one of three answers',
      (index) => (index % 3 === 0 ? { nodes: ['ask', 'search', 'say'] } : {}),
      { nodes: 'worse', 'node-order': 'worse' },
    ],
    [
      'of which one visits its nodes in another order',
      (index) => (index % 3 === 0 ? { nodes: ['say', 'ask'] } : {}),
      { 'node-order': 'worse' },
    ],
  ])('%s', (_, change, differing) => expect(verdictsOf(pairs(60, change))).toEqual({ ...fine, ...differing }));

  test('a slower one is found, whatever the hour does to both', () => {
    const drifting = pairs(60, () => ({})).map(({ live, changed }, index) => ({
      live: { ...live, totalMs: live.totalMs + index * 100 },
      changed: { ...changed, totalMs: changed.totalMs + index * 100 + 700 },
    }));
    expect(verdictsOf(drifting)['total']).toBe('worse');
  });
});

test('what one test lost is not made good by another', () => {
  const [lost = [], ...others] = compareAll(
    [
      pairs(60, (index) => (index % 10 < 4 ? { answer: 'wrong' } : {})),
      ...Array.from({ length: 9 }, () => pairs(60, () => ({}))),
    ],
    3,
  );
  expect(lost[0]).toMatchObject({ measure: 'pass-rate', verdict: 'worse', live: 60, changed: 36 });
  expect(others.flat().every(({ verdict }) => verdict === 'no-worse')).toBe(true);
});

test('few pairs decide nothing', () => {
  expect(verdictsOf(pairs(5, () => ({})))['pass-rate']).toBe('undecided');
  expect(
    isDecided(
      pairs(5, () => ({})),
      { looks: 3, tests: 1 },
    ),
  ).toBe(false);
  expect(
    isDecided(
      pairs(60, () => ({})),
      { looks: 3, tests: 1 },
    ),
  ).toBe(true);
  expect(verdictsOf([])).toEqual(Object.fromEntries(measures.map((each) => [each, 'not-measured'])));
});

test('a pair of which one can not be reached says nothing', () => {
  const answered = { kind: 'answered', status: 'success', nodes: [], firstEventMs: 1, totalMs: 1 } as const;
  const values = { output: 'hello', messages: [{ usage_metadata: { total_tokens: 7 } }, { content: 'hello' }] };
  const gone = { kind: 'unreachable', why: 'refused' } as const;
  expect(pairOf(hello, { ...answered, values }, gone)).toBeUndefined();
  expect(pairOf(hello, gone, { ...answered, values })).toBeUndefined();
  expect(pairOf(hello, { ...answered, values }, { ...answered, values: {} })).toMatchObject({
    live: { answer: 'right', tokens: 7 },
    changed: { answer: 'wrong', tokens: undefined },
  });
});
