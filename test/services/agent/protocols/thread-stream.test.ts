import { describe, expect, test } from 'vitest';
import { attemptIds } from '../../../../src/services/agent/runs/event-log.ts';
import {
  lifecycleAfter,
  runEngineForThread,
  shownEvents,
} from '../../../../src/services/agent/runs/thread-event-stream.ts';
import type { Graph } from '../../../../src/services/agent/graphs/graph.ts';
import { treeBelow } from '../../../../src/services/agent/protocols/thread-stream/state-commands.ts';
import {
  cursorOf,
  matchesFilter,
  seqOf,
  threadEvent,
} from '../../../../src/services/agent/protocols/thread-stream/event.ts';
import { selectionOf, Subscriptions } from '../../../../src/services/agent/protocols/thread-stream/subscriptions.ts';

describe('the numbers of events on a thread', () => {
  const places = [
    { sequence: 1, id: 0 },
    { sequence: 1, id: 4_194_302 },
    { sequence: 1, id: attemptIds },
    { sequence: 1, id: 2 * attemptIds + 7 },
    { sequence: 2, id: 0 },
    { sequence: 400_000_000, id: 2 * attemptIds + 3 },
  ];

  test('grow with the run, the attempt and the event, and lead back to it', () => {
    const numbers = places.map(seqOf);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(numbers.every(Number.isSafeInteger)).toBe(true);
    expect(numbers.map(cursorOf)).toEqual(places);
  });

  test('of more events than an attempt may have stay below those of the next attempt', () => {
    expect(seqOf({ sequence: 1, id: attemptIds - 2 })).toBeLessThan(seqOf({ sequence: 1, id: attemptIds }));
  });

  test('are the id and the order of the event', () => {
    const { id, event, json } = threadEvent({ sequence: 3, id: 5 }, { event: 'values', json: '{"namespace":[]}' });
    expect({ id, event, data: JSON.parse(json) }).toEqual({
      id: 3 * 2 ** 24 + 5,
      event: 'values',
      data: {
        type: 'event',
        event_id: String(3 * 2 ** 24 + 5),
        seq: 3 * 2 ** 24 + 5,
        method: 'values',
        params: { namespace: [] },
      },
    });
  });
});

describe('the filter of a stream', () => {
  const json = (namespace: string[], data: unknown = {}) => JSON.stringify({ namespace, timestamp: 1, data });
  test.for([
    { filter: { channels: ['values'] }, event: 'values', at: ['a:1'], is: true },
    { filter: { channels: ['updates'] }, event: 'values', at: [], is: false },
    { filter: { channels: ['input'] }, event: 'input.requested', at: [], is: true },
    { filter: { channels: ['custom'] }, event: 'custom', at: [], data: { name: 'x' }, is: true },
    { filter: { channels: ['custom:x'] }, event: 'custom', at: [], data: { name: 'x' }, is: true },
    { filter: { channels: ['custom:y'] }, event: 'custom', at: [], data: { name: 'x' }, is: false },
    { filter: { channels: ['values'], namespaces: [['a']] }, event: 'values', at: ['a:1', 'b:2'], is: true },
    { filter: { channels: ['values'], namespaces: [['a']], depth: 0 }, event: 'values', at: ['a:1', 'b:2'], is: false },
    { filter: { channels: ['values'], namespaces: [['a:2']] }, event: 'values', at: ['a:1'], is: false },
    { filter: { channels: ['values'], namespaces: [['b'], []], depth: 0 }, event: 'values', at: [], is: true },
  ])('$filter has $event of $at: $is', ({ filter, event, at, data, is }) => {
    expect(matchesFilter(filter, { event, json: json(at, data) })).toBe(is);
  });
});

test.each<[string, number | undefined, string | undefined, number | undefined]>([
  ['the filter without an id', 3, undefined, 3],
  ['the id', undefined, '7', 7],
  ['the later one: the id', 3, '7', 7],
  ['the later one: the filter', 9, '7', 9],
  ['the filter beside an id of another stream', 3, '1700000000000-0', 3],
  ['the filter beside a number that no event has', 3, '9'.repeat(20), 3],
  ['the filter beside an empty id', undefined, '', undefined],
])('a stream begins after %s', (_, since, lastEventId, begins) => {
  expect(selectionOf({ channels: ['values'], since }, lastEventId).since).toBe(begins);
});

describe('the subscriptions of a connection', () => {
  const event = (name: string) => ({ event: name, json: '{"namespace":[],"timestamp":1,"data":{}}' });

  test('read from the start again for a later one, and repeat nothing for the others', () => {
    const subscriptions = new Subscriptions();
    subscriptions.add('a', { channels: ['values'] });
    expect([subscriptions.channels, subscriptions.since]).toEqual([['values'], undefined]);
    expect([1, 2].map((seq) => subscriptions.accept(event('values'), seq))).toEqual([true, true]);
    expect(subscriptions.since).toBe(2);
    subscriptions.add('b', { channels: ['values', 'updates'], since: 1 });
    expect([subscriptions.channels, subscriptions.since]).toEqual([['values', 'updates'], 1]);
    expect(subscriptions.accept(event('values'), 1)).toBe(false);
    expect(subscriptions.accept(event('values'), 2)).toBe(true);
    expect(subscriptions.accept(event('updates'), 3)).toBe(true);
    expect(subscriptions.remove('b')).toBe(true);
    expect(subscriptions.remove('b')).toBe(false);
    expect(subscriptions.accept(event('updates'), 4)).toBe(false);
    expect(subscriptions.accept(event('values'), 5)).toBe(true);
  });
});

describe('the events of a run', () => {
  const at = { namespace: [], timestamp: 1 };
  const shown = (method: string, data: unknown, namespace: string[] = []) =>
    shownEvents(method, { ...at, namespace, data }, new Set()).map(({ method: name, params }) => [name, params.data]);

  test.for([
    ['values', { a: 1 }, [['values', { a: 1 }]]],
    [
      'values',
      { __interrupt__: [{ id: 'i', value: 'Sure?' }] },
      [['input.requested', { interrupt_id: 'i', payload: 'Sure?' }]],
    ],
    [
      'values',
      { a: 1, __interrupt__: [{ id: 'i', value: 2 }] },
      [
        ['input.requested', { interrupt_id: 'i', payload: 2 }],
        ['values', { a: 1 }],
      ],
    ],
    ['updates', { node: 'n', values: { a: 1 } }, [['updates', { a: 1 }]]],
    [
      'updates',
      { node: '__interrupt__', values: [{ id: 'i', value: 1 }] },
      [['input.requested', { interrupt_id: 'i', payload: 1 }]],
    ],
    ['tasks', { id: 't', error: new Error('no') }, [['tasks', { id: 't', error: 'Error: no' }]]],
    ['custom:progress', { p: 1 }, [['custom', { name: 'progress', payload: { p: 1 } }]]],
    ['lifecycle', { event: 'started' }, []],
  ] as const)('%s with %o', ([method, data, expected]) => {
    expect(shown(method, data)).toEqual(expected);
  });

  test('report the status of subgraphs, and each interrupt once', () => {
    expect(shown('lifecycle', { event: 'started' }, ['sub:1'])).toEqual([['lifecycle', { event: 'started' }]]);
    const requested = new Set<string>();
    const data = { __interrupt__: [{ id: 'i', value: 1 }] };
    expect(shownEvents('values', { ...at, data }, requested)).toHaveLength(1);
    expect(shownEvents('values', { ...at, data }, requested)).toEqual([]);
  });

  test.for([
    ['success', false, 'completed'],
    ['success', true, 'interrupted'],
    ['error', false, 'failed'],
    ['timeout', false, 'failed'],
    ['interrupted', false, 'interrupted'],
  ] as const)('end with %s (interrupts: %s) as %s', ([status, hasInterrupts, expected]) => {
    expect(lifecycleAfter(status, hasInterrupts)).toBe(expected);
  });
});

test('an engine without streamEvents v3 fails the run, and says what to update', async () => {
  const graph = unusedGraph({
    streamEvents: () => {
      throw new Error('Only versions "v1" and "v2" of the schema are currently supported.');
    },
  });
  const kwargs = { config: { configurable: {} }, stream_mode: [], stream_subgraphs: false };
  const plan = { runId: 'r', threadId: 't', metadata: {}, kwargs };
  const reached = { values: undefined, waitsFor: undefined };
  const running = { attempt: 1, signal: new AbortController().signal, emit: () => undefined, reached };
  await expect(runEngineForThread(graph, {}, plan, running)).rejects.toThrow('Update it, or use runs.stream');
});

/** A graph of which only the given methods may be called. */
function unusedGraph(methods: Partial<Graph>): Graph {
  const refuse = (): never => {
    throw new Error('not expected to be called');
  };
  return { withConfig: refuse, stream: refuse, streamEvents: refuse, getState: refuse, ...methods };
}

test('the tree of a run nests its subgraphs by their paths', () => {
  const node = (namespace: string[], graphName?: string) => ({ namespace, status: 'completed', graphName });
  const all = [node([], 'main'), node(['a:1']), node(['a:1', 'b:2']), node(['c:3'], 'other')];
  expect(treeBelow(node([], 'main'), all)).toEqual({
    namespace: [],
    status: 'completed',
    graph_name: 'main',
    children: [
      {
        namespace: ['a:1'],
        status: 'completed',
        graph_name: 'a',
        children: [{ namespace: ['a:1', 'b:2'], status: 'completed', graph_name: 'b' }],
      },
      { namespace: ['c:3'], status: 'completed', graph_name: 'other' },
    ],
  });
});
