import { describe, expect, test } from 'vitest';
import { decideRetry, defaultRetryPolicy, type RetrySituation } from '../../src/client/retry.ts';
import { readRetryAfter } from '../../src/client/attempt-failure.ts';

const passing: RetrySituation['failure'] = { effect: 'unknown', isTransient: true };
const read: RetrySituation = {
  attempt: 1,
  failure: passing,
  safe: true,
  now: 0,
  deadline: 60_000,
  random: 0.5,
  policy: { attempts: 5, baseMs: 250, capMs: 8_000 },
};
const write = { safe: false };
const never = { effect: 'none', isTransient: true } as const;

describe('another attempt', () => {
  test.each<[string, Partial<RetrySituation>, object]>([
    ['a read whose failure may pass is repeated after half of the base', {}, { kind: 'wait', ms: 125 }],
    ['the wait doubles with every attempt', { attempt: 3 }, { kind: 'wait', ms: 500 }],
    ['the wait may be nothing at all: the jitter is full', { random: 0 }, { kind: 'wait', ms: 0 }],
    [
      'the wait has a cap',
      { attempt: 30, policy: { attempts: 99, baseMs: 250, capMs: 8_000 } },
      { kind: 'wait', ms: 4_000 },
    ],
    [
      'a read that the service refused is not repeated',
      { failure: { effect: 'none', isTransient: false } },
      { kind: 'give-up' },
    ],
    ['a write of unknown outcome is never repeated', write, { kind: 'give-up' }],
    ['nor when it has a Retry-After', { ...write, failure: { ...passing, retryAfterMs: 10 } }, { kind: 'give-up' }],
    ['a write that never went out is repeated', { ...write, failure: never }, { kind: 'wait', ms: 125 }],
    [
      'a write that was turned away is repeated when it may come back',
      { ...write, failure: { ...never, retryAfterMs: 5_000 } },
      { kind: 'wait', ms: 5_000 },
    ],
    [
      'a short Retry-After does not shorten the wait',
      { failure: { ...passing, retryAfterMs: 1 } },
      { kind: 'wait', ms: 125 },
    ],
    [
      'a long one is waited for, beyond the cap',
      { failure: { ...passing, retryAfterMs: 59_000 } },
      { kind: 'wait', ms: 59_000 },
    ],
    [
      'one beyond the deadline is reported and not waited for',
      { failure: { ...passing, retryAfterMs: 60_000 * 60 }, now: 10_000 },
      { kind: 'give-up', remark: 'the service requested a delay of 3600 s, and 50 s are left' },
    ],
    ['one attempt may be all there is', { policy: { ...read.policy, attempts: 1 } }, { kind: 'give-up' }],
    ['the last attempt is the last', { attempt: 5 }, { kind: 'give-up', remark: 'after 5 attempts' }],
    [
      'no attempt starts after the deadline',
      { now: 59_900 },
      { kind: 'give-up', remark: 'no time is left for another attempt' },
    ],
  ])('%s', (_, situation, expected) => {
    expect(decideRetry({ ...read, ...situation })).toEqual(expected);
  });

  test('five attempts wait less than eight seconds in total', () => {
    const waits = [1, 2, 3, 4].map((attempt) =>
      decideRetry({ ...read, attempt, random: 1, policy: defaultRetryPolicy }),
    );
    expect(waits.reduce((sum, each) => sum + (each.kind === 'wait' ? each.ms : NaN), 0)).toBeLessThan(8_000);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const in30s = 'Sat, 21 Nov 2026 12:00:30 GMT';

  test.each<[string, string | undefined, string | undefined, number | undefined]>([
    ['is absent', undefined, undefined, undefined],
    ['is empty', ' ', undefined, undefined],
    ['counts seconds', '120', undefined, 120_000],
    ['counts parts of a second', '0.5', undefined, 500],
    ['is nought', '0', undefined, 0],
    ['is a date', in30s, undefined, 30_000],
    ["is a date by the other side's clock", in30s, 'Sat, 21 Nov 2026 12:00:10 GMT', 20_000],
    ['is a date, and the other clock cannot be read', in30s, 'noon', 30_000],
    ['is a date that has passed', 'Sat, 21 Nov 2020 12:00:00 GMT', undefined, 0],
    ['is beyond all numbers', '9'.repeat(400), undefined, Number.MAX_SAFE_INTEGER],
    ['is negative', '-5', undefined, undefined],
    ['is a word', 'soon', undefined, undefined],
  ])('%s', (_, written, date, expected) => {
    expect(readRetryAfter(written, date, now)).toBe(expected);
  });
});
