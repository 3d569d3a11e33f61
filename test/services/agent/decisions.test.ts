import { describe, expect, test } from 'vitest';
import { defaultAssistantId } from '../../../src/services/agent/assistants/assistant.ts';
import { DatabaseUnavailable } from '../../../src/services/agent/storage/retry-policy.ts';
import { decideOrphan } from '../../../src/services/agent/runs/recovery.ts';
import { describeError, RunStopped } from '../../../src/services/agent/runs/run-error.ts';
import { threadStatusAfter } from '../../../src/services/agent/runs/store.ts';
import { storableJson } from '../../../src/kit/json-text.ts';
import { toWire } from '../../../src/services/agent/wire.ts';

describe('a run whose process is gone', () => {
  const run = {
    status: 'running',
    attempt: 1,
    detached: true,
    cancel_action: null,
    graph_id: 'echo',
    isReadable: true,
  } as const;
  test.each([
    ['continues if it needs no caller', {}, 'go-on', undefined],
    ['starts if it had not started', { status: 'pending', attempt: 3 }, 'go-on', undefined],
    ['is interrupted if its caller held the connection', { detached: false }, 'interrupted', 'ServerStopped'],
    ['is interrupted if it had been cancelled', { cancel_action: 'interrupt' }, 'interrupted', 'RunCancelled'],
    ['fails after too many attempts', { attempt: 3 }, 'error', 'ServerStopped'],
    ['fails if its graph is missing', { graph_id: 'gone' }, 'error', 'GraphMissing'],
    ['fails if its request can’t be read', { isReadable: false }, 'error', 'RunNotReadable'],
  ] as const)('%s', (_, over, outcome, error) => {
    const fate = decideOrphan({ ...run, ...over }, (graphId) => graphId === 'echo');
    expect(fate.kind === 'end' ? fate.status : fate.kind).toBe(outcome);
    expect(fate.kind === 'end' ? fate.error.error : undefined).toBe(error);
  });
});

describe('the thread status after a run', () => {
  test.each([
    ['success', false, 'idle'],
    ['success', true, 'interrupted'],
    ['interrupted', false, 'idle'],
    ['interrupted', true, 'interrupted'],
    ['error', false, 'error'],
    ['timeout', false, 'error'],
  ] as const)('a run ended as %s (a node is next: %s): the thread is %s', (status, unfinishedState, thread) => {
    expect(threadStatusAfter({ status, unfinishedState })).toBe(thread);
  });
});

describe('errors of a graph', () => {
  class BoomError extends Error {}
  test.each([
    ['a built-in error', new TypeError('x is not y'), { error: 'TypeError', message: 'x is not y' }],
    ['an error with its own class', new BoomError('boom'), { error: 'BoomError', message: 'boom' }],
    ['an error with a name', Object.assign(new Error('late'), { name: 'Late' }), { error: 'Late', message: 'late' }],
    ['a string', 'out of ink', { error: 'Error', message: 'out of ink' }],
    ['another value', { code: 5 }, { error: 'Error', message: 'Threw object' }],
    [
      'an error with an invalid name and message',
      Object.assign(new Error('x'), { name: 7, message: { a: 1n } }),
      { error: 'Error', message: 'Threw an error whose message is of type object' },
    ],
    ['a stopped run', new RunStopped('cancelled'), { error: 'RunCancelled', message: 'The run was cancelled.' }],
    [
      'an error with causes',
      new BoomError('boom', { cause: new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }) }),
      {
        error: 'BoomError',
        message: 'boom\nCaused by: TypeError: fetch failed\nCaused by: Error: connect ECONNREFUSED',
        causes: [{ error: 'TypeError' }, { error: 'Error' }],
      },
    ],
    [
      'a cause whose words the error repeats',
      new Error('saving failed: disk full', { cause: new BoomError('disk full') }),
      { error: 'Error', message: 'saving failed: disk full', causes: [{ error: 'BoomError' }] },
    ],
    [
      'a cause with no words but those of its parts',
      new Error('down', { cause: new AggregateError([new Error('one'), new Error('two')], '') }),
      {
        error: 'Error',
        message: 'down\nCaused by: AggregateError: one; two',
        causes: [{ error: 'AggregateError' }, { error: 'Error' }, { error: 'Error' }],
      },
    ],
    [
      'the loss of the database, without its address',
      new Error('no state', { cause: new DatabaseUnavailable(new Error('connect ECONNREFUSED 10.0.0.7:5432')) }),
      {
        error: 'Error',
        message: 'no state\nCaused by: DatabaseUnavailable: The database is unavailable.',
        causes: [{ error: 'DatabaseUnavailable' }],
      },
    ],
  ])('%s', (_, thrown, reported) => expect(describeError(thrown)).toEqual(reported));

  test('causes show no secret of the environment', () => {
    const env = { CRM_API_KEY: 'crm-4711-secret', DB_URL: 'postgres://me:s3cretword@db/x', MODE: 'failed' };
    const cause = new Error('refused crm-4711-secret and s3cretword, failed');
    expect(describeError(new Error('no CRM', { cause }), env).message).toBe(
      'no CRM\nCaused by: Error: refused *** and ***, failed',
    );
  });

  test('causes take at most 4,000 characters of the message', () => {
    const long = Array.from({ length: 9 }, (_, n) => `${n}`.repeat(2_000)).reduce<Error>(
      (cause, words) => new Error(words, { cause }),
      new Error('first'),
    );
    const { message } = describeError(new Error('x', { cause: long }), {});
    expect(message.length).toBeLessThanOrEqual(4_002);
    expect(message).toMatch(/^x\nCaused by: Error: 8{900,} \[\.\.\.\]\nCaused by: Error: 7/);
  });
});

describe('values as JSON', () => {
  const message = (content: string) => ({
    lc_serializable: true,
    toDict: () => ({ type: 'ai', data: { content, id: '1' } }),
    toJSON: () => ({ lc: 1, type: 'constructor', id: ['AIMessage'], kwargs: { content } }),
  });
  test.each<[string, unknown, string]>([
    ['plain values are unchanged', { a: [1, null, 'x'], b: undefined }, '{"a":[1,null,"x"]}'],
    ['undefined is null', undefined, 'null'],
    ['a message is flattened', { messages: [message('hi')] }, '{"messages":[{"content":"hi","id":"1","type":"ai"}]}'],
    ['a bigint is a string', { n: 12345678901234567890n }, '{"n":"12345678901234567890"}'],
  ])('%s', (_, value, json) => expect(toWire(value)).toBe(json));

  test('rejects a circular value', () => {
    const ring: Record<string, unknown> = {};
    ring['self'] = ring;
    expect(() => toWire(ring)).toThrow(TypeError);
  });

  test.each([
    ['NUL is replaced', { a: 'x\u0000y' }, '{"a":"x\ufffdy"}'],
    ['also in a key, without merging keys', { a: 1, '\u0000a': 2 }, '{"a":1,"\ufffda":2}'],
    ['its escape as plain text stays', { a: 'x\\u0000y' }, '{"a":"x\\\\u0000y"}'],
    ['also after a backslash', { a: '\\\u0000' }, '{"a":"\\\\\ufffd"}'],
    ['a lone surrogate too', { a: 'x\ud83d\udc00y\udc00' }, '{"a":"x\ud83d\udc00y\ufffd"}'],
    ['each of two', { a: '\u0000\u0000' }, '{"a":"\ufffd\ufffd"}'],
  ])('for the database: %s', (_, value, json) => expect(storableJson(value)).toBe(json));
});

test("a graph's default assistant has the id that public servers give it", () => {
  expect(defaultAssistantId('tiny')).toBe('3330969d-1bd6-5dfc-80e9-91e7dbf68c4e');
});
