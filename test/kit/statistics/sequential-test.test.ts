import { describe, expect, test } from 'vitest';
import {
  decide,
  designTest,
  exactRates,
  fewestTries,
  interval,
  type SequentialTest,
} from '../../../src/kit/statistics/sequential-test.ts';

function designed(passRate: number, drop: number, tests = 1, maxTries?: number): SequentialTest {
  const made = designTest({ passRate, drop, tests }, maxTries);
  if (!made) throw new Error('no test of these rates');
  return made;
}

const usual = designed(0.9, 0.3);

describe('a test of 90 % against 60 %', () => {
  test('fails an agent as good as it says in at most 0.1 % of deploys', () => {
    expect(exactRates(usual, 0.9).failed).toBeLessThanOrEqual(0.001);
  });

  test('finds the drop with at least 99 %, in at most 25 tries on average', () => {
    const dropped = exactRates(usual, 0.6);
    expect(dropped.failed).toBeGreaterThanOrEqual(0.99);
    expect(dropped.meanTries).toBeLessThanOrEqual(25);
    expect(usual.maxTries).toBeLessThanOrEqual(100);
  });

  test('passes what has dropped in at most 1 %', () => {
    expect(exactRates(usual, 0.6).passed).toBeLessThanOrEqual(0.01);
  });

  test('fails in at most 1 % where the pass rate was 5 points too high', () => {
    expect(exactRates(usual, 0.85).failed).toBeLessThanOrEqual(0.01);
  });
});

test.each([
  [1, 0.3, 1],
  [0.95, 0.2, 1],
  [0.8, 0.3, 30],
  [0.5, 0.3, 1],
  [0.9, 0.1, 100],
  [0.9, 0.8, 1],
])('keeps its errors for a pass rate of %f and a drop of %f, as one of %i', (passRate, drop, tests) => {
  const made = designed(passRate, drop, tests);
  expect(exactRates(made, passRate).failed).toBeLessThanOrEqual(Math.min(0.001, 0.01 / tests));
  expect(exactRates(made, passRate - drop).passed).toBeLessThanOrEqual(0.01);
  expect(exactRates(made, passRate - drop).failed).toBeGreaterThanOrEqual(0.99);
});

test('is not found in 1,000 tries where the drop is too small', () => {
  expect(designTest({ passRate: 0.9, drop: 0.02, tests: 1 })).toBeUndefined();
});

test.each<[sentence: string, right: number, wrong: number, decision: string]>([
  ['goes on before the first answer', 0, 0, 'continue'],
  ['passes after 15 right answers', 15, 0, 'passed'],
  ['goes on after 14', 14, 0, 'continue'],
  ['fails after 5 wrong answers', 0, 5, 'failed'],
  ['goes on after 4', 0, 4, 'continue'],
  ['is unproven where its tries are used up between the boundaries', 76, 22, 'unproven'],
])('%s', (_, right, wrong, decision) => expect(decide(usual, { right, wrong })).toBe(decision));

test('tells the fewest tries in which it can pass and fail', () => {
  const { passed, failed } = fewestTries(usual);
  expect(decide(usual, { right: passed, wrong: 0 })).toBe('passed');
  expect(decide(usual, { right: passed - 1, wrong: 0 })).toBe('continue');
  expect(decide(usual, { right: 0, wrong: failed })).toBe('failed');
  expect(decide(usual, { right: 0, wrong: failed - 1 })).toBe('continue');
});

test('agrees with a count of all ways in which a short test can end', () => {
  const short: SequentialTest = { slope: 0.3, failsAt: 1.5, passesAt: 1.5, maxTries: 8 };
  const counted = { passed: 0, failed: 0, unproven: 0, meanTries: 0 };
  const p = 0.7;
  const follow = (right: number, wrong: number, probability: number): void => {
    const decision = decide(short, { right, wrong });
    if (decision !== 'continue') {
      counted[decision] += probability;
      counted.meanTries += probability * (right + wrong);
      return;
    }
    follow(right + 1, wrong, probability * p);
    follow(right, wrong + 1, probability * (1 - p));
  };
  follow(0, 0, 1);
  const exact = exactRates(short, p);
  for (const key of ['passed', 'failed', 'unproven', 'meanTries'] as const) {
    expect(exact[key]).toBeCloseTo(counted[key], 9);
  }
});

test.each([
  [0, 10, 0, 0.278],
  [10, 10, 0.722, 1],
  [27, 30, 0.744, 0.965],
])('the interval of %i of %i right answers', (right, tries, low, high) => {
  expect(interval(right, tries).low).toBeCloseTo(low, 2);
  expect(interval(right, tries).high).toBeCloseTo(high, 2);
});
