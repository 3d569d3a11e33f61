import { expect, test } from 'vitest';
import { resolveContext, type ContextSource } from '../../../../src/services/agent/runs/acceptance.ts';

const nothing: ContextSource = { context: undefined, configurable: {} };
const empty: ContextSource = { context: {}, configurable: {} };
const of = (assistant: ContextSource, run: ContextSource) =>
  resolveContext(['tone', 'volume', 'thread_id'], {
    assistant,
    run,
    configurable: { ...assistant.configurable, ...run.configurable, run_id: 'r' },
  });

test.each<[string, ContextSource, ContextSource, unknown]>([
  ['undefined if not set', empty, nothing, undefined],
  ['empty if the run sets an empty one', empty, empty, {}],
  [
    'the one in the request',
    empty,
    { context: { tone: 'warm', more: 1 }, configurable: {} },
    { tone: 'warm', more: 1 },
  ],
  [
    'the configurable values with its names, without a context',
    empty,
    { context: undefined, configurable: { tone: 'warm', model: 'm' } },
    { tone: 'warm' },
  ],
  [
    'only the context if both are present',
    empty,
    { context: { volume: 1 }, configurable: { tone: 'warm' } },
    { volume: 1 },
  ],
  [
    'the assistant’s, overridden by the run’s configurable values',
    { context: { tone: 'warm', volume: 1 }, configurable: {} },
    { context: undefined, configurable: { tone: 'cold' } },
    { tone: 'cold', volume: 1 },
  ],
  [
    'the assistant’s configurable values, overridden by the run’s context',
    { context: {}, configurable: { tone: 'warm', model: 'm' } },
    { context: { volume: 2 }, configurable: {} },
    { tone: 'warm', volume: 2 },
  ],
])('the context: %s', (_, assistant, run, context) => {
  expect(of(assistant, run).context).toEqual(context);
});

test('a schema may use the server’s names if no context is set', () => {
  const configurable = { thread_id: 't', tone: 'warm' };
  expect(resolveContext(['tone', 'thread_id'], { assistant: empty, run: nothing, configurable }).context).toEqual(
    configurable,
  );
});

test('reports the position of a value', () => {
  const { placeOf } = of(empty, { context: undefined, configurable: { tone: 'rude' } });
  expect(placeOf('tone')).toEqual(['body', 'config', 'configurable']);
  expect(placeOf('volume')).toEqual(['body', 'context']);
  expect(of(empty, { context: { tone: 'rude' }, configurable: { tone: 'x' } }).placeOf('tone')).toEqual([
    'body',
    'context',
  ]);
});
