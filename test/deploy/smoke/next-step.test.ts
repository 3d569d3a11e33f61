import { describe, expect, test } from 'vitest';
import type { Series } from '../../../src/deploy/file/smoke-test.ts';
import type { Evidence } from '../../../src/deploy/rules/verdict-types.ts';
import {
  beginTest,
  countAfter,
  dueAfter,
  runTurns,
  nextStep,
  type TestCourse,
} from '../../../src/deploy/smoke/next-step.ts';
import { hello } from '../machine/deploy-fixture.ts';

const right: Evidence = { kind: 'judged', answer: 'right', firstEventMs: 1, totalMs: 1 };
const away: Evidence = { kind: 'unreachable', why: 'refused' };
const busy: Evidence = { ...away, fault: 'provider', retryAfterMs: 40_000 };
const three: Series = { kind: 'all-right', tries: 3, atOnce: 4 };
const live: Series = { kind: 'live', atOnce: 4, tries: 30, drop: 0.3, decideBy: ['pass-rate'], tests: 1 };
const times = { now: 1_000, until: 100_000 };
const course: TestCourse = { attempts: [right], count: 2, notBefore: 0 };

describe('what a test does next', () => {
  test.each<[string, Partial<TestCourse>, Partial<typeof times>, object]>([
    ['sends a series at once', {}, {}, { kind: 'send', turns: [['new'], ['new']] }],
    ['follows what is under way', { underWay: 1 }, {}, { kind: 'follow', turns: [['new']] }],
    ['waits until its pause is over', { notBefore: 3_000 }, {}, { kind: 'wait', until: 3_000 }],
    ['waits for nothing where the clock was set back', { notBefore: 900_000 }, {}, { kind: 'send' }],
    ['ends where it needs no more', { count: 0 }, {}, { kind: 'end', isOutOfTime: false }],
    ['ends when the time is over', {}, { now: 100_000 }, { kind: 'end', isOutOfTime: true }],
    ['ends it over what is under way', { underWay: 1 }, { now: 100_000 }, { kind: 'end', isOutOfTime: true }],
  ])('%s', (_, known, at, step) => {
    expect(nextStep({ ...hello, series: three }, { ...course, ...known }, { ...times, ...at })).toMatchObject(step);
  });

  test('sends to both agents in pairs, of which every second begins with the new one', () => {
    const compared = { ...hello, series: live };
    expect(nextStep(compared, beginTest(compared, []), times)).toEqual({ kind: 'send', turns: [['live', 'new']] });
    // The second of the first pair is open, after a loss.
    expect(nextStep(compared, { attempts: [right], count: 5, notBefore: 0 }, times)).toEqual({
      kind: 'send',
      turns: [['new'], ['new', 'live'], ['live', 'new']],
    });
  });
});

test('a series begins with one request, and goes on with no more than it needs', () => {
  const series = { ...hello, series: three };
  expect([beginTest(series, []).count, countAfter(series, [right]), countAfter(series, [right, right, right])]).toEqual(
    [1, 2, 0],
  );
});

test.each<[string, Evidence[], Series | undefined, number]>([
  ['at once in a series that is answered', [right], three, 1_000],
  ['after a pause where it is not', [away], three, 3_000],
  ['after a longer one the next time', [away, away], three, 5_000],
  ['after a pause in a test of one answer', [right], undefined, 3_000],
  ['when the provider asks for it', [busy], three, 41_000],
  ['before the end of the time', [away, busy], three, 20_000],
])('the next attempts are made %s', (_, attempts, series, at) => {
  const until = attempts.length === 2 && attempts[1] === busy ? 20_000 : 100_000;
  const testOf = { ...hello, ...(series ? { series } : {}) };
  expect(dueAfter(testOf, attempts, { now: 1_000, until, random: () => 0.5 })).toBe(at);
});

test('turns go on at once, each in its order, and a failure waits for the others', async () => {
  const order: string[] = [];
  const ended: string[] = [];
  const make = async (each: string): Promise<string> => {
    order.push(each);
    await new Promise((resolve) => setImmediate(resolve));
    if (each === 'bad') throw new Error('bad');
    ended.push(each);
    return each;
  };
  expect(await runTurns([['a', 'b'], ['c']], make)).toEqual(['a', 'b', 'c']);
  expect(order).toEqual(['a', 'c', 'b']);
  await expect(
    runTurns(
      [
        ['bad', 'never'],
        ['d', 'e'],
      ],
      make,
    ),
  ).rejects.toThrow('bad');
  expect(ended).toEqual(['a', 'c', 'b', 'd', 'e']);
});
