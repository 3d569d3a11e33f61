import { expect, test } from 'vitest';
import { usageOf } from '../../../src/deploy/rules/usage.ts';

const prices = { 'gpt-4o': { input: 2.5, output: 10 }, 'gpt-4o-mini': { input: 0.15, output: 0.6 } };

const said = (model: string, input: number, output: number, more: object = {}) => ({
  type: 'ai',
  content: 'hello',
  usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  response_metadata: { model_name: model },
  tool_calls: [],
  ...more,
});

test('adds up the tokens of all messages, and their cost by the price of each model', () => {
  const messages = [
    { type: 'human', content: 'hi' },
    said('gpt-4o-2024-08-06', 1_000, 200),
    said('gpt-4o-mini', 2_000, 100),
  ];
  const { tokens, cost } = usageOf({ messages }, prices);
  expect([tokens, cost]).toEqual([3_300, expect.closeTo(0.0025 + 0.002 + 0.0003 + 0.00006, 12)]);
});

test.each([
  ['a model without a price', said('gpt-4o-audio', 10, 10)],
  ['a model whose name continues that of another', said('gpt-4o-2024', 10, 10)],
  ['a message that names no model', said('', 10, 10, { response_metadata: {} })],
  ['a message that reports only the sum', said('gpt-4o', 0, 0, { usage_metadata: { total_tokens: 20 } })],
])('knows no cost with %s, and counts its tokens', (_, message) => {
  expect(usageOf({ messages: [said('gpt-4o', 1, 1), message] }, prices)).toMatchObject({ tokens: 22, cost: undefined });
});

test('finds messages wherever the state keeps them, and counts each once', () => {
  const [first, second] = [said('gpt-4o', 10, 10, { id: 'run-1' }), said('gpt-4o', 5, 5, { id: 'run-2' })];
  const values = {
    steps: [{ draft: first }, { checked: { by: second } }],
    messages: [{ ...first }],
    log: { last: { ...second } },
  };
  expect(usageOf(structuredClone(values), prices).tokens).toBe(30);
  // Two messages without an id may be alike.
  expect(usageOf({ messages: [said('gpt-4o', 1, 1), said('gpt-4o', 1, 1)] }).tokens).toBe(4);
});

test('names the tools in the order of their calls', () => {
  const call = (name: string) => ({ name, args: { query: 'secret' }, id: name });
  const messages = [
    said('gpt-4o', 1, 1, { tool_calls: [call('search'), call('read')] }),
    { type: 'tool', name: 'search', content: 'found' },
    { role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'search', arguments: '{}' } }] },
  ];
  expect(usageOf({ messages }).tools).toEqual(['search', 'read', 'search']);
});

test.each([[undefined], [null], ['text'], [[]], [{ messages: 'none' }], [{ messages: [{ usage_metadata: {} }] }]])(
  'measures nothing of %j',
  (values) => expect(usageOf(values, prices)).toEqual({ tokens: undefined, cost: undefined, tools: [] }),
);

test('takes hostile values in bounded time', () => {
  const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
  const wide = Array.from({ length: 500_000 }, () => ({}));
  const calls = Array.from({ length: 1_000 }, () => ({ name: 'again' }));
  const values = { deep, messages: [{ tool_calls: calls }], wide };
  expect(usageOf(values).tools).toHaveLength(50);
  expect(usageOf({ messages: [said('__proto__', 1, 1), said('constructor', 1, 1)] }, prices).cost).toBeUndefined();
});
