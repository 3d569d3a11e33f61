import { expect, test } from 'vitest';
import { defaultAssistantId } from '../../../../src/services/agent/assistants/assistant.ts';
import { defaultSettings, withDefaults } from '../../../../src/services/agent/assistants/default-settings.ts';

const given = { configurable: { model: 'small' }, recursion_limit: 9, context: { tone: 'warm' } };
const read = () => defaultSettings(JSON.stringify({ talk: given }));

test('a default assistant has the config and the context of the environment', () => {
  const stored = { assistant_id: defaultAssistantId('talk'), graph_id: 'talk', config: {}, context: {} };
  expect(withDefaults(stored, read())).toEqual({
    ...stored,
    config: { configurable: { model: 'small' }, recursion_limit: 9 },
    context: { tone: 'warm' },
  });
});

test.each([
  ['another assistant of the graph', { assistant_id: '0190a0f0-0000-7000-8000-000000000000' }],
  ['one of another graph', { assistant_id: defaultAssistantId('other'), graph_id: 'other' }],
  ['one with its own values', { config: { tags: ['a'] }, context: { tone: 'cold' } }],
])('keeps the values of an assistant: %s', (_, over) => {
  const stored = { assistant_id: defaultAssistantId('talk'), graph_id: 'talk', config: {}, context: {}, ...over };
  expect(withDefaults(stored, read())).toEqual(stored);
});

test.each([undefined, ''])('an environment without the variable gives nothing: %j', (text) => {
  expect(defaultSettings(text).size).toBe(0);
});

test.each([
  '{',
  '[]',
  '"s3cret"',
  '{"talk":1}',
  '{"talk":{"context":"s3cret"}}',
  '{"talk":{"recursion_limit":"s3cret"}}',
])('refuses what is no object of configurations, without showing it: %s', (text) => {
  expect(() => defaultSettings(text)).toThrow('The variable LANGGRAPH_CONFIG is no JSON object of graphs');
  expect(() => defaultSettings(text)).not.toThrow('s3cret');
});
