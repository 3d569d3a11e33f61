import { expect, test } from 'vitest';
import { inputPreview, outputPreview } from '../../../src/contract/agent/run-preview.ts';

const human = { type: 'human', content: 'Hello\n  there' };

test.each<[value: unknown, preview: string | undefined]>([
  [undefined, undefined],
  [null, undefined],
  [{}, undefined],
  ['', undefined],
  ['Ada\0\n', 'Ada'],
  [{ question: 'Why?' }, 'Why?'],
  [{ question: 'Why?', depth: 2 }, '{"question":"Why?","depth":2}'],
  [{ count: 3 }, '{"count":3}'],
  [[1, 2], '[1,2]'],
  [false, 'false'],
  [{ messages: [human], user: 'x' }, 'Hello there'],
  [{ messages: human }, 'Hello there'],
  [{ messages: ['plain'] }, 'plain'],
  [{ messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, { type: 'image_url' }] }] }, 'See'],
  [{ messages: [human, { type: 'ai', content: '', tool_calls: [{ name: 'search' }] }] }, 'Hello there'],
  [{ messages: [] }, '{"messages":[]}'],
  ['a'.repeat(300), `${'a'.repeat(194)} [...]`],
])('shows %j as one short line', (value, preview) => {
  expect(inputPreview(value)).toBe(preview);
});

test('shows what a waiting run asks instead of its state', () => {
  const output = { messages: [human], __interrupt__: [{ value: { question: 'Send it?' }, id: 'x' }] };
  expect(outputPreview(output)).toBe('Send it?');
  expect(outputPreview({ messages: [human], __interrupt__: [] })).toBe('Hello there');
});
