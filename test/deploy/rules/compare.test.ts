import { describe, expect, test } from 'vitest';
import { differs, fewerIn, largerIn, largerThan } from '../../../src/kit/statistics/comparison-statistics.ts';
import { measures, type ComparisonDesign, type SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import {
  concludeLive,
  nextOfLive,
  receiverOf,
  requestsOfLive,
  withoutLive,
} from '../../../src/deploy/rules/against-live.ts';
import { compareSamples, looksOf, type Pair } from '../../../src/deploy/rules/compare.ts';
import { asJudged } from '../../../src/deploy/rules/series.ts';
import type { Evidence, Sample } from '../../../src/deploy/rules/verdict-types.ts';
import { worstNoWorseError } from '../../no-worse-error.ts';
import { hello } from '../machine/deploy-fixture.ts';

const usual: Sample = {
  answer: 'right',
  firstEventMs: 300,
  totalMs: 1_000,
  nodes: ['ask', 'say'],
  tools: ['search', 'read'],
  tokens: 100,
  cost: 0.002,
};

/** Pairs with noise that is the same in every run. */
const pairs = (count: number, change: (index: number) => Partial<Sample>): Pair[] =>
  Array.from({ length: count }, (_, index) => {
    const noise = (seed: number) => ((index * seed) % 41) * 10 - 200;
    const live = { ...usual, totalMs: 1_000 + noise(7), firstEventMs: 300 + noise(7) / 4 };
    const changed = { ...usual, totalMs: 1_000 + noise(23), firstEventMs: 300 + noise(23) / 4 };
    return { live, changed: { ...changed, ...change(index) } };
  });

const design: ComparisonDesign = { tries: 160, drop: 0.3, decideBy: measures, tests: 1 };

const measuredOf = (of: Pair[], { isPaired = true, tests = 1, tries = design.tries } = {}) => {
  const requests = { live: of.length, liveOf: of.length, changed: of.length, changedOf: of.length };
  return compareSamples(
    { live: of.map(({ live }) => live), changed: of.map(({ changed }) => changed), isPaired, requests },
    { ...design, tests, tries },
  );
};

const verdictsOf = (of: Pair[], isPaired = true) =>
  Object.fromEntries(measuredOf(of, { isPaired }).map(({ measure, verdict }) => [measure, verdict]));

const fine = Object.fromEntries(measures.map((each) => [each, 'no-worse']));

test('computes what the books compute', () => {
  // Fisher's tea: 3 of 4 against 1 of 4.
  expect(fewerIn({ live: 3, liveOf: 4, changed: 1, changedOf: 4 })).toBeCloseTo(17 / 70);
  expect(differs({ live: 3, liveOf: 4, changed: 1, changedOf: 4 })).toBeCloseTo(34 / 70);
  expect(largerThan([1, 2, 3, 4, 5], 0)).toBeCloseTo(1 / 32);
  expect(largerThan([-1, 2, 3, 4, 5], 0)).toBeCloseTo(2 / 32);
  expect(largerThan([1, 1], 0)).toBeCloseTo(1 / 4);
  expect(largerThan([], 0)).toBe(1);
  // By the normal approximation, of a table: 5 of 5 larger, and all alike.
  expect(largerIn([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])).toBeCloseTo(0.0061, 4);
  expect(largerIn([6, 7, 8, 9, 10], [1, 2, 3, 4, 5])).toBeCloseTo(0.9967, 3);
  expect(largerIn([1, 1, 1], [1, 1])).toBe(1);
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
    [
      'of which one calls another tool in one of three answers',
      (index) => (index % 3 === 0 ? { tools: ['search'] } : {}),
      { tools: 'worse', 'tool-order': 'worse' },
    ],
    [
      'of which one calls its tools in another order',
      (index) => (index % 3 === 0 ? { tools: ['read', 'search'] } : {}),
      { 'tool-order': 'worse' },
    ],
    ['of which one costs twice as much', () => ({ cost: 0.004 }), { cost: 'worse' }],
  ])('%s', (_, change, differing) => expect(verdictsOf(pairs(60, change))).toEqual({ ...fine, ...differing }));

  test('a slower one is found, whatever the hour does to both', () => {
    const drifting = pairs(60, () => ({})).map(({ live, changed }, index) => ({
      live: { ...live, totalMs: (live.totalMs ?? 0) + index * 100 },
      changed: { ...changed, totalMs: (changed.totalMs ?? 0) + index * 100 + 700 },
    }));
    expect(verdictsOf(drifting)['total']).toBe('worse');
  });
});

test('without pairs a slower one is found as well, and an equal one is no worse', () => {
  expect(
    verdictsOf(
      pairs(160, () => ({})),
      false,
    ),
  ).toEqual(fine);
  const slower = pairs(60, () => ({})).map(({ live, changed }) => ({
    live,
    changed: { ...changed, totalMs: (changed.totalMs ?? 0) + 300 },
  }));
  expect(verdictsOf(slower, false)['total']).toBe('worse');
});

test('the more tests there are, the stricter each is', () => {
  const some = pairs(30, (index) => (index % 10 < 4 ? { nodes: ['ask'] } : {}));
  expect(verdictsOf(some)['nodes']).toBe('worse');
  const strict = measuredOf(some, { tests: 100 }).find(({ measure }) => measure === 'nodes');
  expect(strict).toMatchObject({ verdict: 'undecided' });
});

describe('each look is paid for', () => {
  const fewer = (count: number) => pairs(count, (index) => (index % 3 === 0 ? { answer: 'wrong' } : {}));
  const chanceOf = (count: number, tries: number, isPaired: boolean) =>
    measuredOf(fewer(count), { isPaired, tries }).find(({ measure }) => measure === 'pass-rate')?.chance ?? 0;

  test('in pairs with an equal share', () => {
    const once = chanceOf(30, 30, true);
    expect(once).toBeGreaterThan(0);
    expect(chanceOf(30, 60, true) / once).toBeCloseTo(2, 10);
    expect(chanceOf(30, 160, true) / once).toBeCloseTo(3, 10);
  });

  test('where one agent was measured before with a thousandth, and the last with what is left', () => {
    const once = chanceOf(30, 30, false);
    expect(chanceOf(30, 100, false) / once).toBeCloseTo(1_000, 6);
    expect(chanceOf(100, 100, false) / chanceOf(100, 100, true)).toBeCloseTo(1 / 0.998 / 3, 10);
  });
});

test.each([
  [20, 0.4],
  [60, 0.3],
  [100, 0.4],
  [160, 0.45],
  [160, 0.48],
  [200, 0.4],
  [200, 0.5],
])('with at most %d answers, a drop of %d is called no worse in at most 0.01, computed exactly', (tries, drop) => {
  const worst = worstNoWorseError(looksOf(tries), drop);
  expect(worst).toBeLessThanOrEqual(0.01);
  // A larger one is excluded like one of 0.4.
  expect(worst).toBeGreaterThan(drop > 0.4 ? 0 : 0.004);
});

test('the errors of times are for three looks, however many answers there are', () => {
  expect([looksOf(20), looksOf(60), looksOf(160), looksOf(200)]).toEqual([
    [20],
    [30, 60],
    [30, 60, 160],
    [30, 60, 200],
  ]);
});

test('few pairs decide nothing, and none measure nothing', () => {
  expect(verdictsOf(pairs(5, () => ({})))['pass-rate']).toBe('undecided');
  expect(verdictsOf([])).toEqual(Object.fromEntries(measures.map((each) => [each, 'not-measured'])));
});

describe('a test against the live revision', () => {
  const series = { kind: 'live', atOnce: 4, ...design, tries: 60 } as const;
  const against: SmokeTest = { ...hello, series };
  const values = { output: 'hello', messages: [{ usage_metadata: { total_tokens: 7 } }, { content: 'hello' }] };
  const right: Evidence = {
    kind: 'answered',
    status: 'success',
    values,
    nodes: ['ask'],
    firstEventMs: 300,
    totalMs: 1_000,
  };
  const wrong: Evidence = { ...right, values: {} };
  const gone: Evidence = { kind: 'unreachable', why: 'refused' };
  /** The attempts of so many pairs, in the order in which they are sent. */
  const attempts = (count: number, live: Evidence, changed: Evidence, of = against): Evidence[] =>
    Array.from({ length: count }, (_, index) => (receiverOf(of, index) === 'live' ? live : changed));
  const conclude = (made: Evidence[], of = series) => concludeLive(of, { ...against, series: of }, made, []);

  test('alternates which agent is first, and begins with a pair that counts for neither', () => {
    const receivers = [0, 1, 2, 3, 4, 5].map((index) => receiverOf(against, index));
    expect(receivers).toEqual(['live', 'new', 'new', 'live', 'live', 'new']);
    expect(requestsOfLive(series, against, [])).toBe(2);
    expect(requestsOfLive(series, against, attempts(2, right, right))).toBe(8);
    // The pair that is first and two more.
    expect(conclude(attempts(6, right, right))).toMatchObject({
      kind: 'unproven',
      why: '2 answers of each agent so far',
    });
  });

  test('ends at a look that decides all, and else at its last pair', () => {
    expect(nextOfLive(series, against, attempts(2 * 30, right, right))).toBe('again');
    expect(nextOfLive(series, against, attempts(2 * 31, right, right))).toBe('enough');
    expect(requestsOfLive(series, against, attempts(2 * 30, right, right))).toBe(2);
    const unclear = attempts(2 * 31, right, right)
      .with(10, wrong)
      .with(14, wrong)
      .with(20, wrong)
      .with(26, wrong);
    const [strict] = [{ ...series, tests: 100 }];
    expect(nextOfLive(strict, { ...against, series: strict }, unclear)).toBe('again');
    expect(nextOfLive(series, against, attempts(2 * 61, right, wrong))).toBe('enough');
  });

  test('passes, fails by the measures that decide, and says by how much', () => {
    expect(conclude(attempts(2 * 31, right, right))).toMatchObject({
      kind: 'passed',
      held: [{ expectation: { measure: 'answered' }, held: true }, {}, {}, {}, {}, {}, {}],
    });
    const slower = { ...right, totalMs: 1_300 };
    expect(conclude(attempts(2 * 31, right, slower))).toMatchObject({
      kind: 'failed',
      held: [
        {
          expected: 'total time: no worse than live',
          seen: '1.3 s, live 1.0 s, +300 ms (+30 %)',
          held: false,
        },
      ],
    });
    expect(conclude(attempts(2 * 31, right, slower), { ...series, decideBy: ['pass-rate'] })).toMatchObject({
      kind: 'passed',
      comparison: {
        measures: [
          { measure: 'answered', decides: true },
          { measure: 'pass-rate', decides: true },
          {},
          { measure: 'total', verdict: 'worse', decides: false },
          ...Array.from({ length: 6 }, () => ({ decides: false })),
        ],
      },
    });
  });

  test('proves nothing where neither agent gives a right answer', () => {
    expect(conclude(attempts(2 * 31, wrong, wrong))).toMatchObject({
      kind: 'unproven',
      why: expect.stringContaining('neither has given one right answer'),
    });
    expect(conclude(attempts(2 * 31, right, right), { ...series, decideBy: ['cost'] })).toMatchObject({
      kind: 'unproven',
      why: expect.stringContaining('nothing that decides was measured'),
    });
  });

  test('fails where the new agent falls silent while the live one answers, and not the reverse', () => {
    const silent = (agent: 'live' | 'new') =>
      attempts(2 * 31, right, right).map((evidence, index) =>
        receiverOf(against, index) === agent && index >= 20 ? gone : evidence,
      );
    expect(conclude(silent('new'))).toMatchObject({
      kind: 'failed',
      held: [{ expected: 'requests answered: no worse than live', held: false }],
      comparison: { live: { right: 9, answers: 9 }, changed: { right: 9, answers: 9 }, unreachable: 21 },
    });
    expect(conclude(silent('live'))).toMatchObject({ kind: 'unproven', because: 'undecided' });
  });

  test('goes on for longer where one agent alone is silent, and proves nothing by the live one', () => {
    expect(nextOfLive(series, against, attempts(2 * 9, right, gone))).toBe('again');
    expect(nextOfLive(series, against, attempts(2 * 17, right, gone))).toBe('enough');
    expect(nextOfLive(series, against, attempts(2 * 9, gone, gone))).toBe('enough');
    expect(conclude(attempts(2 * 17, gone, right))).toMatchObject({ kind: 'unproven', because: 'unreachable' });
  });

  test('counts no time of a request that an agent refused', () => {
    const refused: Evidence = { ...wrong, status: 'error', refused: true, firstEventMs: undefined, totalMs: 0 };
    const made = attempts(2 * 31, right, { ...right, totalMs: 1_300 }).map((evidence, index) =>
      receiverOf(against, index) === 'new' && index % 2 === 0 ? refused : evidence,
    );
    expect(conclude(made.map((evidence) => asJudged(against, evidence)))).toMatchObject({
      kind: 'failed',
      comparison: { measures: expect.arrayContaining([expect.objectContaining({ measure: 'total', changed: 1_300 })]) },
    });
    expect(conclude(made)).toHaveProperty(
      'comparison.times.changed',
      Array.from({ length: 15 }, () => 1_300),
    );
  });

  test('takes what the live agent answered before, and without it is a test of one answer', () => {
    const after = withoutLive(against, 40);
    if (after.series?.kind !== 'live') throw new Error('it compares');
    const live = attempts(40, right, wrong, after);
    expect(requestsOfLive(after.series, after, live)).toBe(1);
    expect(requestsOfLive(after.series, after, attempts(41, right, right, after))).toBe(4);
    expect(nextOfLive(after.series, after, attempts(40 + 40, right, right, after))).toBe('again');
    expect(nextOfLive(after.series, after, attempts(40 + 41, right, right, after))).toBe('enough');
    expect(concludeLive(after.series, after, attempts(40 + 41, right, wrong, after), [])).toMatchObject({
      kind: 'failed',
      comparison: { isBeside: false, live: { right: 40, answers: 40 }, changed: { right: 0, answers: 40 } },
    });
    expect(withoutLive(against, 0)).toEqual(hello);
  });

  test('ends early where the live agent answered before only if the new one is worse beyond doubt', () => {
    const after = withoutLive({ ...against, series: { ...series, tries: 100 } }, 100);
    if (after.series?.kind !== 'live') throw new Error('it compares');
    const live = after.series;
    const next = (count: number, changed: Evidence) => nextOfLive(live, after, attempts(count, right, changed, after));
    expect([next(100 + 30, wrong), next(100 + 31, wrong)]).toEqual(['again', 'enough']);
    expect([next(100 + 31, right), next(100 + 61, right), next(100 + 101, right)]).toEqual([
      'again',
      'again',
      'enough',
    ]);
    expect(next(100 + 31, { ...right, totalMs: 3_000 })).toBe('enough');
    expect(next(100 + 31, { ...right, nodes: ['ask', 'say'] })).toBe('enough');
    expect(requestsOfLive(after.series, after, attempts(100 + 29, right, right, after))).toBe(2);
  });
});
