import { describe, expect, test } from 'vitest';
import { planRun, type RunOrder } from '../../../../src/services/agent/runs/run-plan.ts';
import type { RunCreate } from '../../../../src/contract/agent/run.ts';

const assistant = { assistant_id: 'a', graph_id: 'echo', context: {}, config: {}, metadata: {} };
const order: RunOrder = { runId: 'r', threadId: 't', stateless: false, mode: 'wait', now: 7, assistant };
const plan = (request: Partial<RunCreate>, over: Partial<RunOrder> = {}) =>
  planRun({ assistant_id: 'echo', ...request }, { ...order, ...over });
const of = (over: Partial<RunOrder['assistant']>) => ({ assistant: { ...assistant, ...over } });

describe('planning a run', () => {
  test.each<[string, Partial<RunCreate>, Partial<RunOrder>, unknown]>([
    ['neither has a context', {}, {}, undefined],
    ['the assistant has one', {}, of({ context: { a: 1 } }), { a: 1 }],
    ['the run has one', { context: { a: 2 } }, {}, { a: 2 }],
    ['both have one: the run wins key by key', { context: { a: 2 } }, of({ context: { a: 1, b: 1 } }), { a: 2, b: 1 }],
    ['the run has an empty one', { context: {} }, {}, {}],
  ])('context: %s', (_, request, over, context) => expect(plan(request, over).kwargs.context).toEqual(context));

  test('merges the configuration of the assistant and the run', () => {
    const config = { tags: ['x'], recursion_limit: 5, configurable: { model: 'small', voice: 'low' } };
    expect(plan({ config: { tags: ['y'], configurable: { model: 'large' } } }, of({ config })).kwargs.config).toEqual({
      tags: ['x', 'y'],
      recursion_limit: 5,
      configurable: { model: 'large', voice: 'low', assistant_id: 'a', graph_id: 'echo', thread_id: 't', run_id: 'r' },
    });
  });

  test('metadata of the configuration is metadata of the run, which wins', () => {
    const config = { metadata: { session: 's', user: 'u', graph_id: 'other' } };
    const { metadata, threadMetadata } = plan({ config, metadata: { user: 'v' } });
    expect(metadata).toMatchObject({ session: 's', user: 'v', graph_id: 'echo' });
    expect(threadMetadata).toEqual({ user: 'v' });
    expect(plan({ config: { metadata: 'text' } }).metadata).toEqual({ assistant_id: 'a', graph_id: 'echo' });
  });

  test('reserved names can’t be set', () => {
    const configurable = {
      __pregel_checkpointer: 1,
      thread_id: 'x',
      run_id: 'x',
      checkpoint_ns: 'x',
      checkpoint_id: 'x',
      mine: 1,
    };
    expect(Object.keys(plan({ config: { configurable } }).kwargs.config.configurable)).toEqual([
      'mine',
      'assistant_id',
      'graph_id',
      'thread_id',
      'run_id',
    ]);
  });

  test.each<[string, Partial<RunCreate>, Partial<RunOrder>, { temporary: boolean; detached: boolean }]>([
    ['a waited-for run ends with its client', {}, {}, { temporary: false, detached: false }],
    ['on_disconnect=continue detaches it', { on_disconnect: 'continue' }, {}, { temporary: false, detached: true }],
    ['a background run has no client', {}, { mode: 'background' }, { temporary: false, detached: true }],
    ['a stateless run keeps nothing', {}, { stateless: true }, { temporary: true, detached: false }],
    [
      'unless on_completion is keep',
      { on_completion: 'keep' },
      { stateless: true },
      { temporary: false, detached: false },
    ],
    ['on a thread on_completion has no effect', { on_completion: 'delete' }, {}, { temporary: false, detached: false }],
  ])('%s', (_, request, over, expected) => expect(plan(request, over)).toMatchObject(expected));

  test.each<[string, RunCreate['stream_mode'], string[]]>([
    ['defaults to values', undefined, ['values']],
    ['an empty list too', [], ['values']],
    ['one mode', 'updates', ['updates']],
    ['several, without duplicates', ['updates', 'events', 'updates'], ['updates', 'events']],
  ])('stream mode: %s', (_, stream_mode, modes) => expect(plan({ stream_mode }).kwargs.stream_mode).toEqual(modes));

  test('keeps the fields left to the public description', () => {
    expect(plan({})).toMatchObject({ multitaskStrategy: 'enqueue', resumable: false, delayMs: 0, acceptedAt: 7 });
    expect(plan({ after_seconds: 1.5, multitask_strategy: 'reject' })).toMatchObject({
      delayMs: 1500,
      multitaskStrategy: 'reject',
    });
    expect(plan({ checkpoint_during: false }).kwargs.durability).toBe('exit');
  });
});
