import { describe, expect, test } from 'vitest';
import type { StreamEvent, StreamMode } from '../../../src/contract/agent/stream-event.ts';
import { applyEvent, evidenceOf, initialStreamState } from '../../../src/deploy/smoke/smoke-evidence.ts';

/** The evidence of events 10 ms apart, the first one 10 ms after the request. */
const heard = (events: readonly StreamEvent[], ...requested: StreamMode[]) =>
  evidenceOf(
    events.reduce(
      (answer, event, index) => applyEvent(answer, event, 1_000 + (index + 1) * 10),
      initialStreamState(1_000, requested),
    ),
  );

const metadata = { event: 'metadata', data: { run_id: 'run1', attempt: 1 } };
const values = (data: unknown) => ({ event: 'values', data });
const updates = (data: unknown) => ({ event: 'updates', data });

describe('what a stream proves', () => {
  test('uses the last values, and lists nodes in the order of their updates', () => {
    const events = [metadata, values({ n: 0 }), updates({ prep: {} }), updates({ a: {}, b: {} }), values({ n: 2 })];
    expect(heard(events, 'values', 'updates')).toEqual({
      kind: 'answered',
      status: 'success',
      values: { n: 2 },
      nodes: ['prep', 'a', 'b'],
      firstEventMs: 20,
      totalMs: 50,
    });
  });

  test.each<[string, StreamEvent[], StreamMode[], number | undefined]>([
    ['the first event after metadata', [metadata, updates({ a: {} })], ['updates'], 20],
    ['not of a mode that is there for our own sake', [metadata, values({}), updates({ a: {} })], ['updates'], 30],
    ['whole messages', [metadata, values({}), { event: 'messages/partial', data: [] }], ['messages'], 30],
    [
      'not what the input said',
      [metadata, { event: 'messages/complete', data: [{ type: 'human' }] }, { event: 'messages/partial', data: [] }],
      ['messages'],
      30,
    ],
    ['message chunks', [metadata, values({}), { event: 'messages', data: [] }], ['messages-tuple'], 30],
    ['events of a subgraph', [metadata, { event: 'updates|sub:1', data: {} }], ['updates'], 20],
    ['none in the requested mode', [metadata, values({})], ['custom'], undefined],
    ['an error', [metadata, { event: 'error', data: { error: 'E', message: 'm' } }], ['updates'], 20],
  ])('the first event is %s', (_, events, requested, firstEventMs) => {
    expect(heard([...events, values({ done: true })], ...requested)).toMatchObject({ firstEventMs });
  });

  test.each<[string, StreamEvent[], string]>([
    ['a run that ends', [values({})], 'success'],
    ['an error event', [values({}), { event: 'error', data: { error: 'Boom', message: 'm' } }], 'error'],
    ['an interrupt among the updates', [updates({ __interrupt__: [] })], 'interrupted'],
    ['an interrupt among the values', [values({ a: 1, __interrupt__: [] })], 'interrupted'],
    ['an interrupt and a node that ended', [updates({ __interrupt__: [] }), values({ a: 1 })], 'interrupted'],
  ])('status of %s', (_, events, status) => {
    expect(heard([metadata, ...events], 'updates')).toMatchObject({ kind: 'answered', status });
  });

  test("an interrupt beside other nodes requires the thread's state", () => {
    const question = [{ id: 'i', value: 'which one?' }];
    const requests = [updates({ __interrupt__: question }), values({ __interrupt__: question })];
    const events = [metadata, values({ a: [] }), updates({ one: {} }), values({ a: ['one'] }), ...requests];
    expect(heard(events, 'values')).toEqual({
      kind: 'answered',
      status: 'interrupted',
      values: { a: ['one'], __interrupt__: question },
      nodes: ['one'],
      firstEventMs: 20,
      totalMs: 60,
    });
    const besides = [updates({ slow: {} }), values({ a: ['one', 'slow'] })];
    expect(heard([...events, ...besides], 'values')).toMatchObject({
      status: 'interrupted',
      values: { a: ['one', 'slow'] },
      nodes: ['one', 'slow'],
    });
  });

  test('accepts empty values', () => {
    const evidence = heard([metadata, values({ a: 1 }), values({})], 'values');
    expect(evidence.kind === 'answered' && evidence.values).toEqual({});
  });

  test('ignores keys that are no nodes, and nodes of a subgraph', () => {
    const events = [metadata, updates({ a: {}, __interrupt__: [] }), { event: 'updates|sub:1', data: { inner: {} } }];
    expect(heard(events, 'updates')).toMatchObject({ nodes: ['a'] });
  });

  test.each<[string, unknown, object]>([
    ['as the documents have it', { error: 'Boom', message: 'm' }, { error: 'Boom', message: 'm' }],
    ['as plain text', 'it broke', { error: 'Error', message: 'it broke' }],
    ['as anything else', { code: 7 }, { error: 'Error', message: '{"code":7}' }],
  ])('an error %s', (_, data, error) => {
    expect(heard([metadata, { event: 'error', data }], 'updates')).toMatchObject({ status: 'error', error });
  });

  test.each<[string, StreamEvent[]]>([
    ['nothing', []],
    ['only metadata', [metadata]],
  ])('%s is an incomplete response', (_, events) => expect(heard(events, 'updates').kind).toBe('unreachable'));
});

test('a run of the public server that failed', () => {
  const events = [
    metadata,
    values({ fail: 'yes', steps: [] }),
    updates({ prep: { steps: ['prep'] } }),
    values({ fail: 'yes', steps: ['prep'] }),
    { event: 'error', data: { error: 'BoomError', message: 'boom: yes' } },
  ];
  expect(heard(events, 'updates', 'values')).toMatchObject({
    status: 'error',
    error: { error: 'BoomError', message: 'boom: yes' },
    nodes: ['prep'],
    values: { fail: 'yes', steps: ['prep'] },
  });
});
