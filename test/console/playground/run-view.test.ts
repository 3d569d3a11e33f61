import { expect, test } from 'vitest';
import { messagesOf } from '../../../src/console/pages/playground/messages.ts';
import { emptyRun, endedNodes, reduceRun, type RunView } from '../../../src/console/pages/playground/run-view.ts';
import type { StreamEvent } from '../../../src/contract/agent/stream-event.ts';

const chunk = (content: unknown, more: object = {}): unknown => [
  { id: 'a', type: 'ai', content, tool_calls: [], tool_call_chunks: [], ...more },
  { langgraph_node: 'answer' },
];
const event = (id: number, name: string, data: unknown): StreamEvent => ({ id: String(id), event: name, data });
const run = (...events: StreamEvent[]): RunView => events.reduce(reduceRun, emptyRun('r'));
const metadata = event(0, 'metadata', { run_id: 'r', attempt: 1 });
const texts = (view: RunView): string[] => view.streamed.map(({ shown }) => shown.text);

test('joins the chunks of a message, and drops a repeated event', () => {
  const events = [metadata, event(1, 'messages|answer:1', chunk('Hel')), event(2, 'messages|answer:1', chunk('lo'))];
  expect(texts(run(...events))).toEqual(['Hello']);
  expect(texts(run(...events, ...events))).toEqual(['Hello']);
});

test('joins blocks of text and the arguments of a tool call by their index', () => {
  const view = run(
    metadata,
    event(1, 'messages', chunk([{ type: 'text', text: 'Let ', index: 0 }])),
    event(2, 'messages', chunk([{ type: 'text', text: 'me.', index: 0 }])),
    event(3, 'messages', chunk([], { tool_call_chunks: [{ index: 0, id: 'c', name: 'find', args: '{"q":' }] })),
    event(4, 'messages', chunk([], { tool_call_chunks: [{ index: 0, args: '"x"}' }] })),
  );
  expect(view.streamed[0]?.shown).toMatchObject({
    text: 'Let me.',
    toolCalls: [{ id: 'c', name: 'find', args: '{"q":"x"}' }],
  });
});

test('shows a streamed message once, also when the state has it', () => {
  const state = { messages: [{ id: 'a', type: 'ai', content: 'Hello' }] };
  const view = run(metadata, event(1, 'messages', chunk('Hello')), event(2, 'values', state));
  expect([view.streamed, messagesOf(view.values)?.length]).toEqual([[], 1]);
  expect(reduceRun(view, event(3, 'messages', chunk('Hello'))).streamed).toEqual([]);
});

test('drops the tokens of an attempt that is retried', () => {
  const view = run(
    metadata,
    event(1, 'messages', chunk('half an ans')),
    event(1_000_000_000, 'metadata', { run_id: 'r', attempt: 2 }),
    event(1_000_000_001, 'messages', chunk('half an answer')),
  );
  expect(texts(view)).toEqual(['half an answer']);
});

test('knows what each node is doing, also in subgraphs', () => {
  const view = run(
    metadata,
    event(1, 'tasks', { id: '1', name: 'sort', input: {} }),
    event(2, 'tasks|sort:1', { id: '2', name: 'classify', input: {} }),
    event(3, 'tasks|sort:1', { id: '2', name: 'classify', result: {}, interrupts: [] }),
    event(4, 'tasks', { id: '3', name: 'review', result: {}, interrupts: [{ id: 'i', value: 1 }] }),
  );
  expect(Object.fromEntries(view.nodes)).toEqual({ sort: 'running', 'sort:classify': 'done', review: 'waiting' });
  expect(endedNodes(view, true).get('sort')).toBe('failed');
});

test('keeps the state beside an event that has interrupts only', () => {
  const view = run(metadata, event(1, 'values', { a: 1 }), event(2, 'values', { __interrupt__: [{ id: 'i' }] }));
  expect(view.values).toEqual({ a: 1 });
});

test('marks the last node of a failed run, which the engine reports as ended', () => {
  const view = run(
    metadata,
    event(1, 'tasks', { id: '1', name: 'answer', result: {}, interrupts: [] }),
    event(2, 'error', { error: 'InkError', message: 'no ink' }),
  );
  expect(view.failure).toEqual({ error: 'InkError', message: 'no ink' });
  expect(endedNodes(view, true).get('answer')).toBe('failed');
});
