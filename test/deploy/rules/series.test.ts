import { describe, expect, test } from 'vitest';
import { type Series, type SmokeTest, withAnswers } from '../../../src/deploy/file/smoke-test.ts';
import { attemptsAtOnce, compactAttempts } from '../../../src/deploy/rules/series.ts';
import type { Evidence, TestVerdict } from '../../../src/deploy/rules/verdict-types.ts';
import { concludeTest, nextAttempt } from '../../../src/deploy/rules/verdict.ts';
import { designTest, type SequentialTest } from '../../../src/kit/statistics/sequential-test.ts';

const hypotheses = { passRate: 0.9, drop: 0.3, tests: 1 };
const rate: Series = { kind: 'rate', ...hypotheses, boundaries: designTest(hypotheses, 40) ?? raise(), atOnce: 4 };
const three: Series = { kind: 'all-right', tries: 3, atOnce: 4 };

function raise(): never {
  throw new Error('no such test');
}

const testOf = (series: Series): SmokeTest => ({
  name: 'answers',
  assistant: 'echo',
  thread: false,
  input: {},
  streamModes: ['values'],
  expect: [
    { kind: 'value', path: '$.reply', test: { kind: 'equals', value: 'yes' } },
    { kind: 'total', withinMs: 1_000 },
  ],
  attempts: 3,
  timeoutMs: 1_000,
  series,
});

const answer = (reply: string, totalMs = 10): Evidence => ({
  kind: 'answered',
  status: 'success',
  values: { reply },
  nodes: [],
  firstEventMs: 5,
  totalMs,
});
const right = answer('yes');
const wrong = answer('no');
const late = answer('yes', 2_000);
const away: Evidence = { kind: 'unreachable', why: 'connect ECONNREFUSED' };
const broken: Evidence = { kind: 'unreachable', why: 'HTTP 500', fault: 'server-error' };
const hanging: Evidence = { kind: 'unreachable', why: 'no whole answer within 3000 ms', fault: 'hangs' };
const ungraded: Evidence = { kind: 'unreachable', why: 'not graded', ungraded: true };
const busy: Evidence = { kind: 'unreachable', why: 'RateLimitError: 429', fault: 'provider' };
/** Three right answers of four, which is between both rates. */
const mixed = (count: number): Evidence[] =>
  Array.from({ length: count }, (_, index) => (index % 4 === 0 ? wrong : right));
const times = (count: number, evidence: Evidence): Evidence[] => Array.from({ length: count }, () => evidence);

const reported = ({ kind, rate: observed, ...rest }: TestVerdict): string => {
  const seen = observed ? ` ${observed.right}/${observed.answers}` : '';
  return `${kind}${'because' in rest ? ` ${rest.because}` : ''}${seen}`;
};

describe.each<[name: string, series: Series, cases: [sentence: string, attempts: Evidence[], why: string][]]>([
  [
    'a pass rate',
    rate,
    [
      ['passes after enough right answers', times(15, right), 'passed 15/15'],
      ['is unproven where it is stopped before', times(14, right), 'unproven unreachable 14/14'],
      ['fails after enough wrong answers', times(5, wrong), 'failed 0/5'],
      [
        'counts what could not be reached on neither side',
        [...times(7, right), ...times(5, away), ...times(8, right)],
        'passed 15/15',
      ],
      [
        'is unproven where more is missing than its drop allows',
        [...times(7, right), ...times(9, away), ...times(8, right)],
        'unproven missing 15/15',
      ],
      ['allows a cold start', [...times(9, away), ...times(15, right)], 'passed 15/15'],
      [
        'fails where the agent itself gives no answer too often',
        Array.from({ length: 60 }, (_, index) => (index % 5 < 2 ? broken : right)),
        'failed 9/17',
      ],
      ['fails where the agent hangs', times(5, hanging), 'failed 0/5'],
      [
        "counts a failure of the model's provider on neither side",
        [...times(7, right), ...times(6, busy), ...times(8, right)],
        'passed 15/15',
      ],
      [
        'is unproven where the provider fails more often than its drop allows',
        [...times(7, right), ...times(9, busy), ...times(8, right)],
        'unproven provider 15/15',
      ],
      [
        'is unproven where the grader says nothing more often than its drop allows',
        [...times(7, right), ...times(9, ungraded), ...times(8, right)],
        'unproven ungraded 15/15',
      ],
      ['allows no cold start to a provider', [...times(9, busy), ...times(15, right)], 'unproven provider 15/15'],
      ['is unproven where the provider goes on failing', [right, ...times(10, busy)], 'unproven provider 1/1'],
      ['is unproven where nothing could be reached', times(9, away), 'unproven unreachable'],
      ['counts a late answer as a wrong one', [right, ...times(5, late)], 'failed 1/6'],
      ['but for the first, which may be a cold start', [late, ...times(14, right)], 'unproven unreachable 14/14'],
      [
        'decides in the order of the requests, and counts none after it',
        [...times(15, right), ...times(5, wrong)],
        'passed 15/15',
      ],
      ['is unproven between its boundaries', mixed(40), 'unproven undecided 30/40'],
    ],
  ],
  [
    'a number of tries',
    three,
    [
      ['passes where all are right', times(3, right), 'passed 3/3'],
      ['fails where all are wrong', times(3, wrong), 'failed 0/3'],
      ['is unproven where they differ', [right, wrong, right], 'unproven disagreement 1/2'],
      ['is unproven before it has them all', times(2, right), 'unproven unreachable 2/2'],
    ],
  ],
])('%s', (_, series, cases) => {
  test.each(cases)('%s', (__, attempts, why) => {
    expect(reported(concludeTest(testOf(series), attempts))).toBe(why);
    // What is stored between two attempts decides as the whole answers do.
    const compact = compactAttempts(testOf(series), attempts);
    expect(concludeTest(testOf(series), compact)).toEqual(concludeTest(testOf(series), attempts));
  });
});

test.each<[sentence: string, series: Series, attempts: Evidence[], next: 'again' | 'enough', atOnce: number]>([
  ['begins with one request, which may meet a cold start', rate, [], 'again', 1],
  ['goes on with several at once', rate, [right], 'again', 4],
  ['goes on with one after it could not be reached', rate, [right, away], 'again', 1],
  ['goes on with half as many after a failure of the provider', rate, [right, busy, right], 'again', 2],
  ['sends no more than it can need', rate, times(13, right), 'again', 2],
  ['ends once it is decided', rate, times(15, right), 'enough', 1],
  ['ends when the agent was unreachable too often in a row', rate, [right, ...times(3, away)], 'enough', 1],
  [
    'ends when it was unreachable in every second attempt',
    rate,
    Array.from({ length: 83 }, (_, index) => (index % 2 === 0 ? away : index % 8 === 1 ? wrong : right)),
    'enough',
    1,
  ],
  ['ends when the caller is refused', rate, [{ kind: 'unreachable', why: '401', denied: true }], 'enough', 1],
  ['ends at the first difference where all must be right', three, [right, wrong], 'enough', 1],
  ['needs all where all must be right', three, [right, right], 'again', 1],
])('%s', (_, series, attempts, next, atOnce) => {
  expect(nextAttempt(testOf(series), attempts)).toBe(next);
  expect(attemptsAtOnce(testOf(series), attempts)).toBe(atOnce);
});

test('a verdict shows an answer of its own kind', () => {
  const failed = concludeTest(testOf(rate), [right, ...times(6, wrong), right]);
  expect(failed).toMatchObject({ kind: 'failed', held: [{}, { held: false, seen: '"no"' }, {}] });
  const passed = concludeTest(testOf(rate), [...times(14, right), wrong, ...times(15, right)]);
  expect(passed).toMatchObject({ kind: 'passed', rate: { right: 18, answers: 19 } });
  expect(passed.kind === 'passed' && passed.held.every(({ held }) => held)).toBe(true);
});

test.each<[sentence: string, boundaries: SequentialTest | undefined, attempts: Evidence[], takes: string]>([
  [
    'that would do, of a test with fewer',
    designTest(hypotheses, 40),
    mixed(40),
    '`max-tries: 98` finds the drop with 99 %',
  ],
  ['that are missing at the least', designTest(hypotheses), mixed(98), 'a verdict takes at least 6 more answers'],
  [
    'of a test that was stopped',
    designTest(hypotheses, 40),
    times(14, right),
    'a verdict takes at least 1 more answer',
  ],
])('an unproven rate names the answers %s', (_, boundaries, attempts, takes) => {
  const { kind, why } = { why: '', ...concludeTest(testOf({ ...rate, boundaries: boundaries ?? raise() }), attempts) };
  expect(kind).toBe('unproven');
  expect(why).toMatch(new RegExp(`; ${takes}$`));
});

test.each<[sentence: string, series: Series | undefined, answers: Evidence[], why: string]>([
  ['a test of one answer, of which some are wrong', undefined, mixed(8), 'unproven disagreement 6/8'],
  ['a test of one answer, all right', undefined, times(8, right), 'passed 8/8'],
  ['a pass rate that fewer had decided', rate, [...times(6, wrong), ...times(24, right)], 'failed 24/30'],
  ['a pass rate that is not decided by them', rate, mixed(12), 'unproven undecided 9/12'],
])('counts so many answers as were requested to %s', (_, series, answers, why) => {
  const { series: __, ...plain } = testOf(three);
  const counted = withAnswers(series ? testOf(series) : plain, answers.length);
  expect(nextAttempt(counted, answers.slice(0, -1))).toBe('again');
  expect(attemptsAtOnce(counted, answers.slice(0, -2))).toBe(2);
  expect(nextAttempt(counted, answers)).toBe('enough');
  expect(reported(concludeTest(counted, answers))).toBe(why);
});

test('stores one answer of each kind, and counts the others', () => {
  const compact = compactAttempts(testOf(rate), [...times(8, right), wrong, wrong, right]);
  expect(compact.filter(({ kind }) => kind === 'answered')).toEqual([wrong, right]);
  expect(compact).toHaveLength(11);
});
