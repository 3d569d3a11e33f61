import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from 'vitest';
import { toAttemptOutcome, maxTries, decideRetry } from '../../../../src/services/agent/webhooks/outcome.ts';
import { webhookPayload } from '../../../../src/services/agent/webhooks/payload.ts';
import type { WebhookRun } from '../../../../src/services/agent/webhooks/payload.ts';
import { onceAtATime } from '../../../../src/services/agent/webhooks/send.ts';
import { webhookPayloadSchema } from '../../../../src/contract/agent/webhook.ts';

describe('the meaning of a response', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  test.each([
    [200, 'taken'],
    [204, 'taken'],
    [301, 'refused'],
    [307, 'refused'],
    [400, 'refused'],
    [401, 'refused'],
    [404, 'refused'],
    [410, 'refused'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
    [0, 'refused'],
  ] as const)('%i: %s', (status, kind) => expect(toAttemptOutcome(status, undefined, now).kind).toBe(kind));

  test.each([
    ['seconds', '120', 120_000],
    ['a date', 'Sat, 21 Nov 2026 12:01:00 GMT', 60_000],
    ['a date in the past', 'Sat, 21 Nov 2026 11:00:00 GMT', 0],
    ['an unreadable value', 'soon', undefined],
    ['nothing', undefined, undefined],
  ])('Retry-After may be %s', (_, header, afterMs) => {
    expect(toAttemptOutcome(429, header, now)).toMatchObject({ kind: 'failed', afterMs });
  });
});

describe('the next step after an attempt', () => {
  const failed = { kind: 'failed', why: 'answered 500' } as const;
  test.each([
    [1, 1000],
    [2, 2000],
    [5, 16_000],
    [10, 512_000],
    [11, 900_000],
    [13, 900_000],
  ])('after %i failures the delay is %i ms ± 25 %', (tries, ms) => {
    expect(decideRetry(failed, tries, 0)).toEqual({ kind: 'again', inMs: ms * 0.75 });
    const longest = decideRetry(failed, tries, 1);
    expect(longest).toEqual({ kind: 'again', inMs: Math.min(900_000, ms * 1.25) });
  });

  test('retries for about an hour, then gives up', { meta: { claims: ['agent.webhook.retries'] } }, () => {
    let sum = 0;
    for (let tries = 1; tries < maxTries; tries += 1) {
      const next = decideRetry(failed, tries, 0.5);
      if (next.kind === 'again') sum += next.inMs;
    }
    expect(sum).toBeGreaterThan(55 * 60_000);
    expect(sum).toBeLessThan(70 * 60_000);
    expect(decideRetry(failed, maxTries, 0.5)).toEqual({
      kind: 'given-up',
      why: 'answered 500, at the last of 14 tries',
    });
  });

  test('ends after success, and gives up at once when rejected', () => {
    expect(decideRetry({ kind: 'taken' }, 3, 0)).toEqual({ kind: 'done' });
    expect(decideRetry({ kind: 'refused', why: 'answered 404' }, 1, 0)).toEqual({
      kind: 'given-up',
      why: 'answered 404',
    });
  });

  test('honours Retry-After within bounds', () => {
    expect(decideRetry({ ...failed, afterMs: 60_000 }, 1, 0.5)).toEqual({ kind: 'again', inMs: 60_000 });
    expect(decideRetry({ ...failed, afterMs: 10 }, 3, 0.5)).toEqual({ kind: 'again', inMs: 4000 });
    expect(decideRetry({ ...failed, afterMs: 1e12 }, 1, 0.5)).toEqual({ kind: 'again', inMs: 900_000 });
  });
});

describe('the body of a webhook', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, second));
  const run: WebhookRun = {
    run_id: '11111111-1111-4111-8111-111111111111',
    thread_id: '22222222-2222-4222-8222-222222222222',
    assistant_id: '33333333-3333-4333-8333-333333333333',
    status: 'success',
    metadata: { m: 1 },
    kwargs: { input: { a: 1 } },
    multitask_strategy: 'enqueue',
    error: null,
    values: { a: 2 },
    stateless: false,
    created_at: at(0),
    started_at: at(1),
    ended_at: at(2),
    updated_at: at(2),
  };
  const body = (over: Partial<WebhookRun> = {}) =>
    webhookPayloadSchema.parse(webhookPayload({ ...run, ...over }, at(3).getTime()));
  const failure = { error: 'OutOfInk', message: 'no ink' };

  test('has every field of the table', () => {
    expect(body()).toEqual({
      run_id: run.run_id,
      thread_id: run.thread_id,
      assistant_id: run.assistant_id,
      status: 'success',
      created_at: '2026-11-21T12:00:00.000Z',
      updated_at: '2026-11-21T12:00:02.000Z',
      run_started_at: '2026-11-21T12:00:01.000Z',
      run_ended_at: '2026-11-21T12:00:02.000Z',
      webhook_sent_at: '2026-11-21T12:00:03.000Z',
      metadata: { m: 1 },
      kwargs: { input: { a: 1 } },
      values: { a: 2 },
      multitask_strategy: 'enqueue',
      error: null,
    });
  });

  test.each<[string, Partial<WebhookRun>, unknown]>([
    ['of a successful run', {}, null],
    ['of a failed run', { status: 'error', error: failure }, failure],
    [
      'of a failed run, without facts',
      { status: 'error', error: { ...failure, causes: [{ error: 'Busy', status: 429 }] } },
      failure,
    ],
    ['of a timed-out run', { status: 'timeout', error: failure }, failure],
    ['of an interrupted run, which is not a failure', { status: 'interrupted', error: failure }, null],
  ])('error %s', (_, over, error) => expect(body(over).error).toEqual(error));

  test(
    'omits run_ended_at while the run is active',
    { meta: { claims: ['agent.webhook.payload.run-ended-at-omitted'] } },
    () => {
      expect(body({ ended_at: null, status: 'running' })).not.toHaveProperty('run_ended_at');
    },
  );

  test('omits the values of a stateless run; empty for a new thread', () => {
    expect(body({ stateless: true, values: null })).not.toHaveProperty('values');
    expect(body({ values: null }).values).toEqual({});
  });

  test('a run that ended before it started has its end as the start', () => {
    expect(body({ started_at: null, status: 'interrupted' }).run_started_at).toBe('2026-11-21T12:00:02.000Z');
  });
});

test('resolves a name once at a time, and again after the response', async () => {
  const requested: string[] = [];
  const answers: PromiseWithResolvers<LookupAddress[]>[] = [];
  const resolve = onceAtATime((host) => {
    requested.push(host);
    const answer = Promise.withResolvers<LookupAddress[]>();
    answers.push(answer);
    return answer.promise;
  });
  const both = [resolve('slow.test'), resolve('slow.test')];
  void resolve('other.test');
  expect(requested).toEqual(['slow.test', 'other.test']);
  answers[0]?.reject(new Error('not found'));
  expect(await Promise.allSettled(both)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  const again = resolve('slow.test');
  answers[2]?.resolve([{ address: '192.0.2.1', family: 4 }]);
  expect(await again).toEqual([{ address: '192.0.2.1', family: 4 }]);
  expect(requested).toEqual(['slow.test', 'other.test', 'slow.test']);
});
