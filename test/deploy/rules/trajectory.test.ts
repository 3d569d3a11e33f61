import { expect, test } from 'vitest';
import { readMessage } from '../../../src/deploy/file/written-trajectory.ts';
import type { ReferenceTrajectory } from '../../../src/deploy/file/smoke-test.ts';
import { createFormatter } from '../../../src/deploy/words/format-expectation.ts';
import { checkTrajectory } from '../../../src/deploy/rules/trajectory.ts';

const words = createFormatter((text) => text);

/** As LangChain writes it, or as OpenAI does. */
const human = { type: 'human', content: 'Refund order 7' };
const calls = (...called: [string, object][]) => ({
  type: 'ai',
  content: '',
  tool_calls: called.map(([name, args]) => ({ name, args, id: 'call-1', type: 'tool_call' })),
});
const openAiCalls = (...called: [string, object][]) => ({
  role: 'assistant',
  content: '',
  tool_calls: called.map(([name, args]) => ({ id: 'c', function: { name, arguments: JSON.stringify(args) } })),
});

const reference = (
  messages: unknown[],
  mode: ReferenceTrajectory['mode'],
  args: ReferenceTrajectory['args'] = 'exact',
): ReferenceTrajectory => ({ path: '$.messages', mode, args, messages: messages.flatMap((m) => readMessage(m) ?? []) });

const search: [string, object] = ['search', { id: 7 }];
const refund: [string, object] = ['refund', { id: 7, amount: 5 }];

// The same results as those of `agentevals`: test/partners/agentevals compares generated ones.
test.each([
  ['strict', [human, calls(search, refund)], [human, openAiCalls(refund, search)], true],
  ['strict', [human, calls(search)], [human, calls(search), calls(refund)], false],
  ['strict', [human, calls(search)], [calls(search), human], false],
  ['unordered', [calls(search), calls(refund)], [calls(refund, search)], true],
  ['unordered', [calls(search), calls(search)], [calls(search)], false],
  ['subset', [calls(search)], [calls(search, refund)], true],
  ['subset', [calls(search, refund)], [calls(search)], false],
  ['superset', [calls(search, refund)], [openAiCalls(refund)], true],
  ['superset', [calls(refund)], [calls(refund, refund)], false],
] as const)('%s: %j to %j is %s', (mode, seen, expected, held) => {
  expect(checkTrajectory(reference([...expected], mode), [[...seen]], words).held).toBe(held);
});

test.each([
  ['exact', false],
  ['ignore', true],
  ['superset', true],
  ['subset', false],
] as const)('arguments beyond those of the reference, compared %s: %s', (args, held) => {
  const expected = reference([calls(['refund', { id: 7 }])], 'superset', args);
  expect(checkTrajectory(expected, [[calls(refund)]], words).held).toBe(held);
});

test('says which tools were called, and what is no message', () => {
  const expected = reference([calls(search)], 'superset');
  expect(checkTrajectory(expected, [[calls(refund)]], words).seen).toBe('calls refund {"id":7,"amount":5}');
  expect(checkTrajectory(expected, [[{ text: 'hello' }]], words)).toMatchObject({ held: false });
  expect(
    checkTrajectory(
      expected,
      [[{ role: 'assistant', tool_calls: [{ function: { name: 'x', arguments: '{' } }] }]],
      words,
    ),
  ).toMatchObject({ held: false, seen: 'a value that is no message' });
});
