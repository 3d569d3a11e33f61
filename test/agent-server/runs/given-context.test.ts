import { expect, test } from 'vitest';
import { givenContext } from '../../../src/agent-server/runs/given-context.ts';
import type { Given } from '../../../src/agent-server/runs/given-context.ts';

const nothing: Given = { context: undefined, configurable: {} };
const empty: Given = { context: {}, configurable: {} };
const of = (assistant: Given, run: Given) =>
  givenContext(['tone', 'volume', 'thread_id'], {
    assistant,
    run,
    configurable: { ...assistant.configurable, ...run.configurable, run_id: 'r' },
  });

test.each<[string, Given, Given, unknown]>([
  ['none where nobody sets any', empty, nothing, undefined],
  ['an empty one where the run says so', empty, empty, {}],
  ['what is sent', empty, { context: { tone: 'warm', more: 1 }, configurable: {} }, { tone: 'warm', more: 1 }],
  [
    'the configurable values of its names where no context is sent',
    empty,
    { context: undefined, configurable: { tone: 'warm', model: 'm' } },
    { tone: 'warm' },
  ],
  [
    'the context alone where both are sent',
    empty,
    { context: { volume: 1 }, configurable: { tone: 'warm' } },
    { volume: 1 },
  ],
  [
    'that of an assistant, with the configurable values of the run on top',
    { context: { tone: 'warm', volume: 1 }, configurable: {} },
    { context: undefined, configurable: { tone: 'cold' } },
    { tone: 'cold', volume: 1 },
  ],
  [
    'the configurable values of an assistant, with what is sent on top',
    { context: {}, configurable: { tone: 'warm', model: 'm' } },
    { context: { volume: 2 }, configurable: {} },
    { tone: 'warm', volume: 2 },
  ],
])('the context of a run is %s', (_, assistant, run, context) => {
  expect(of(assistant, run).context).toEqual(context);
});

test('a schema that asks for a name of the server gets it where nobody sets a context', () => {
  const configurable = { thread_id: 't', tone: 'warm' };
  expect(givenContext(['tone', 'thread_id'], { assistant: empty, run: nothing, configurable }).context).toEqual(
    configurable,
  );
});

test('a value is told of where it stands', () => {
  const { placeOf } = of(empty, { context: undefined, configurable: { tone: 'rude' } });
  expect(placeOf('tone')).toEqual(['body', 'config', 'configurable']);
  expect(placeOf('volume')).toEqual(['body', 'context']);
  expect(of(empty, { context: { tone: 'rude' }, configurable: { tone: 'x' } }).placeOf('tone')).toEqual([
    'body',
    'context',
  ]);
});
