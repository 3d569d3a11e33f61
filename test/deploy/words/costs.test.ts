import { expect, test } from 'vitest';
import type { Series, SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import { describeConversations, describeSeries, whyTooFewAnswers } from '../../../src/deploy/words/costs.ts';
import { designTest, formatRate } from '../../../src/kit/statistics/sequential-test.ts';

const hypotheses = { passRate: 0.9, drop: 0.3, tests: 1 };

function rateOf(maxTries?: number): Series {
  const boundaries = designTest(hypotheses, maxTries);
  if (!boundaries) throw new Error('no such test');
  return { kind: 'rate', ...hypotheses, boundaries, atOnce: 4 };
}

test('says a rate and what a series costs in words', () => {
  expect(formatRate({ right: 27, answers: 30 })).toBe('27 of 30 answers were right (90 %, likely 74.4 to 96.5 %)');
  expect(describeSeries(rateOf(40))).toMatch(
    /^finds a drop of 30 points with 8.*, at most 40; with `max-tries: 98` it finds it with 99 %$/,
  );
  expect(describeSeries(rateOf())).toBe('finds a drop of 30 points with 99 %, about 25 answers, at most 98');
  expect(describeSeries({ kind: 'all-right', tries: 3, atOnce: 4 })).toBe('needs 3 right answers');
  expect(describeSeries({ kind: 'live', tries: 30, drop: 0.3, decideBy: [], tests: 1, atOnce: 4 })).toBe(
    'compares 30 answers with as many of the live revision',
  );
});

test('says what conversations cost, and why answers are too few', () => {
  expect(describeConversations({ newest: 1 })).toBe(
    'tries the newest one: a copy and one or two runs, and at most 3 copies and 6 runs where a run fails',
  );
  const smokeTest: SmokeTest = {
    name: 'greets',
    assistant: 'echo',
    streamModes: [],
    thread: false,
    input: {},
    expect: [],
    timeoutMs: 1_000,
    attempts: 1,
    series: rateOf(),
  };
  expect(whyTooFewAnswers(smokeTest, 1)).toMatch(/^tries of the smoke test greets /);
  expect(whyTooFewAnswers(smokeTest, 98)).toBeUndefined();
});
