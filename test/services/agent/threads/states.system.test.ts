import type { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UNKNOWN_ID } from '../promises/fixture.ts';
import { clientOf, notedThread, refusedWith, serveThreads, waitingThread } from './clients.ts';
import type { Serving } from '../serving.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveThreads();
});
afterAll(() => serving.close());

describe('the states of a thread, over HTTP', () => {
  let client: Client;
  beforeAll(() => {
    client = clientOf(serving.url);
  });

  /** The JSON of a path, by POST with a body. */
  async function read(path: string, body?: object): Promise<unknown> {
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${serving.url}${path}`, body && post);
    return response.json();
  }

  const noted = () => notedThread(client);
  const waiting = () => waitingThread(client);

  test('exist at every past checkpoint, newest first', async () => {
    const threadId = await noted();
    const history = await client.threads.getHistory(threadId, { limit: 100 });
    expect(history.map(({ next }) => next)).toEqual([[], ['sign'], ['left', 'right'], ['write'], ['__start__']]);
    expect(history[0]).toEqual(await client.threads.getState(threadId));
    for (const [at, state] of history.entries()) {
      expect(state.parent_checkpoint?.checkpoint_id).toBe(history[at + 1]?.checkpoint.checkpoint_id);
      const id = String(state.checkpoint.checkpoint_id);
      const byId = await client.threads.getState(threadId, id);
      expect(byId).toMatchObject({ values: state.values, next: state.next, checkpoint: state.checkpoint });
      expect(await client.threads.getState(threadId, state.checkpoint)).toEqual(byId);
    }
  });

  test('of the past can be filtered by limit, before and metadata', async () => {
    const threadId = await noted();
    const all = await client.threads.getHistory(threadId, { limit: 100 });
    const [, second, third] = all;
    expect(await client.threads.getHistory(threadId, { limit: 2 })).toEqual(all.slice(0, 2));
    const before = { configurable: { checkpoint_id: second?.checkpoint.checkpoint_id ?? '' } };
    expect(await client.threads.getHistory(threadId, { limit: 1, before })).toEqual([third]);
    expect(await client.threads.getHistory(threadId, { limit: 9, metadata: { source: 'input' } })).toEqual([
      all.at(-1),
    ]);
    expect(await client.threads.getHistory(threadId, { metadata: { source: 'unknown' } })).toEqual([]);
    expect(await client.threads.getHistory((await client.threads.create()).thread_id)).toEqual([]);
  });

  test.each([
    ['fields', '?select=next&select=created_at', ['next', 'created_at']],
    ['fields separated by commas', '?select=next,created_at', ['next', 'created_at']],
    ['keys of the values', '?select=values.mood&select=values.unknown&select=next', ['next', 'values']],
  ])('have only selected %s', async (_, query, fields) => {
    const threadId = await noted();
    const whole = await client.threads.getState(threadId);
    const history = await client.threads.getHistory(threadId, { limit: 2 });
    const select = new URLSearchParams(query).getAll('select').flatMap((each) => each.split(','));
    const at = `/threads/${threadId}`;
    const part = (state: object) => {
      const kept = Object.fromEntries(Object.entries(state).filter(([field]) => fields.includes(field)));
      return 'values' in kept ? { ...kept, values: { mood: 'calm' } } : kept;
    };
    expect(await read(`${at}/state${query}`)).toEqual(part(whole));
    expect(await read(`${at}/state/${String(whole.checkpoint.checkpoint_id)}${query}`)).toEqual(part(whole));
    expect(await read(`${at}/state/checkpoint`, { checkpoint: whole.checkpoint, select })).toEqual(part(whole));
    expect(await read(`${at}/history${query}&limit=2`)).toEqual(history.map(part));
    expect(await read(`${at}/history`, { limit: 2, select })).toEqual(history.map(part));
  });

  test('have all values where these and one key are selected, and no unknown field', async () => {
    const threadId = await noted();
    const { values } = await client.threads.getState(threadId);
    expect(await read(`/threads/${threadId}/state?select=values&select=values.mood`)).toEqual({ values });
    for (const wrong of ['value', 'values.', 'tasks.name']) {
      expect(await read(`/threads/${threadId}/state?select=${wrong}`)).toMatchObject({
        detail: [{ loc: ['query', 'select', 0], msg: expect.stringMatching(/^expected .+ or values\.KEY$/) }],
      });
    }
  });

  test('that do not exist are missing', async () => {
    const threadId = await noted();
    expect(await refusedWith(client.threads.getState(threadId, UNKNOWN_ID))).toMatchObject({ status: 404 });
    expect(await refusedWith(client.threads.getState(UNKNOWN_ID))).toMatchObject({ status: 404 });
    expect(await refusedWith(client.threads.getHistory(UNKNOWN_ID))).toMatchObject({ status: 404 });
    expect(await refusedWith(client.threads.getState(threadId, 'never'))).toMatchObject({ status: 422 });
    expect(
      await refusedWith(client.threads.updateState(threadId, { values: {}, checkpointId: UNKNOWN_ID })),
    ).toMatchObject({
      status: 404,
    });
  });

  test('of subgraphs are included on request, down to the interrupted one', async () => {
    const threadId = await waiting();
    const flat = await client.threads.getState(threadId);
    expect(flat).toMatchObject({ next: ['middle'], tasks: [{ name: 'middle', state: null }] });
    const namespace = flat.tasks[0]?.checkpoint?.checkpoint_ns ?? '';
    expect(namespace).toMatch(/^middle:/);
    expect(flat.tasks[0]?.checkpoint).toEqual({ thread_id: threadId, checkpoint_ns: namespace });
    const whole = await client.threads.getState(threadId, undefined, { subgraphs: true });
    expect(whole.tasks[0]?.state).toMatchObject({
      next: ['inner'],
      values: { request: 'sing', path: ['first', 'before'] },
      checkpoint: { checkpoint_ns: namespace },
      tasks: [
        {
          name: 'inner',
          state: { next: ['ask'], tasks: [{ name: 'ask', interrupts: [{ value: { question: 'May I sing?' } }] }] },
        },
      ],
    });
    const { checkpoint } = flat.tasks[0] ?? {};
    const inside = await client.threads.getState(threadId, checkpoint ?? undefined);
    expect(inside).toMatchObject({ next: ['inner'], values: { path: ['first', 'before'] } });
    const past = await client.threads.getHistory(threadId, { checkpoint: { checkpoint_ns: namespace } });
    expect(past.map(({ next }) => next)).toEqual([['inner'], ['before'], ['__start__']]);
  });

  test('can be updated as if by a node, and the next run continues there', async () => {
    const threadId = await noted();
    const { configurable } = await client.threads.updateState(threadId, {
      values: { notes: ['by hand'] },
      asNode: 'write',
    });
    const state = await client.threads.getState(threadId);
    expect(state.checkpoint).toMatchObject({ checkpoint_id: configurable?.checkpoint_id });
    expect(state).toMatchObject({
      next: ['left', 'right'],
      metadata: { source: 'update' },
      values: { notes: ['written', 'left', 'right', 'signed', 'by hand'] },
    });
    expect(await client.threads.get(threadId)).toMatchObject({ status: 'interrupted', values: state.values });
    const after = await client.runs.wait(threadId, 'notes', { input: null });
    expect(after).toMatchObject({
      notes: ['written', 'left', 'right', 'signed', 'by hand', 'left', 'right', 'signed'],
    });
    expect(await client.threads.get(threadId)).toMatchObject({ status: 'idle' });
  });

  test('can branch from a past state, which keeps the later ones in the history', async () => {
    const threadId = await noted();
    const [, , middle] = await client.threads.getHistory(threadId);
    if (!middle) throw new Error('There is no third state.');
    await client.threads.updateState(threadId, {
      values: { mood: 'new' },
      checkpoint: middle.checkpoint,
      asNode: 'write',
    });
    const state = await client.threads.getState(threadId);
    expect(state).toMatchObject({ values: { mood: 'new', notes: ['written'] }, next: ['left', 'right'] });
    expect(state.parent_checkpoint).toMatchObject({ checkpoint_id: middle.checkpoint.checkpoint_id });
    expect(await client.threads.getHistory(threadId, { limit: 100 })).toHaveLength(6);
  });

  test('can be updated without a run, if the thread has a graph', async () => {
    const { thread_id } = await client.threads.create({ graphId: 'notes' });
    await client.threads.updateState(thread_id, { values: { mood: 'fresh' }, asNode: 'sign' });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: 'idle', values: { mood: 'fresh', notes: [] } });
    const { thread_id: unknown } = await client.threads.create();
    expect(await refusedWith(client.threads.updateState(unknown, { values: {} }))).toMatchObject({ status: 422 });
  });

  test('of a subgraph can be updated by its namespace', async () => {
    const threadId = await waiting();
    const whole = await client.threads.getState(threadId, undefined, { subgraphs: true });
    const inner = whole.tasks[0]?.state?.tasks[0]?.state?.checkpoint;
    if (!inner) throw new Error('The innermost graph has no checkpoint.');
    await client.threads.updateState(threadId, {
      values: { request: 'dance' },
      checkpoint: inner,
      asNode: '__start__',
    });
    const after = await client.threads.getState(threadId, { ...inner, checkpoint_id: null });
    expect(after).toMatchObject({ values: { request: 'dance' }, next: ['ask'] });
    expect(await client.threads.get(threadId)).toMatchObject({ status: 'interrupted', values: { request: 'sing' } });
    const lost = { ...inner, checkpoint_ns: 'nowhere:1', checkpoint_id: null };
    expect(await refusedWith(client.threads.updateState(threadId, { values: {}, checkpoint: lost }))).toMatchObject({
      status: 422,
    });
    expect(await client.runs.wait(threadId, 'deep', { command: { resume: 'softly' } })).toMatchObject({
      answer: 'dance: softly',
      // An update of a subgraph is merged into the previous state, including its input.
      path: ['first', 'first', 'before', 'first', 'before', 'last'],
    });
  });

  test('report the graph’s error for an invalid update, and stay unchanged', async () => {
    const threadId = await noted();
    const before = await client.threads.getHistory(threadId, { limit: 100 });
    const unknown = await refusedWith(client.threads.updateState(threadId, { values: {}, asNode: 'unknown' }));
    expect(unknown).toMatchObject({ status: 422, words: expect.stringContaining('does not exist') });
    const cross = await refusedWith(
      client.threads.updateState(threadId, { values: { mood: 'cross' }, asNode: 'write' }),
    );
    expect(cross).toMatchObject({ status: 422, words: expect.stringContaining('Too cross to go on') });
    expect(await client.threads.getHistory(threadId, { limit: 100 })).toEqual(before);
  });

  test('can’t be updated during a run', async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'notes', { input: { sleep_ms: 60_000 } });
    expect(await refusedWith(client.threads.updateState(thread_id, { values: {}, asNode: 'sign' }))).toMatchObject({
      status: 409,
    });
    await client.runs.cancel(thread_id, run_id, true);
    await client.threads.updateState(thread_id, { values: { mood: 'after' }, asNode: 'sign' });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: 'idle', values: { mood: 'after' } });
  });

  test('concurrent updates all count', async () => {
    const threadId = await noted();
    const names = Array.from({ length: 12 }, (__, at) => `note ${at}`);
    await Promise.all(
      names.map((name) => client.threads.updateState(threadId, { values: { notes: [name] }, asNode: 'sign' })),
    );
    const { values } = await client.threads.getState<{ notes: string[] }>(threadId);
    expect(values.notes.slice(4).toSorted()).toEqual(names.toSorted());
  });

  test('belong to their own branch if a run starts from a past state', async () => {
    const threadId = await noted();
    const before = await client.threads.getHistory(threadId, { limit: 100 });
    const [, , middle] = before;
    if (!middle) throw new Error('There is no third state.');
    const forked = await client.runs.wait(threadId, 'notes', {
      input: { notes: ['fork'], mood: 'other' },
      checkpoint: middle.checkpoint,
    });
    expect(forked).toMatchObject({ mood: 'other', notes: ['written', 'fork', 'written', 'left', 'right', 'signed'] });
    const after = await client.threads.getHistory(threadId, { limit: 100 });
    expect(after[0]).toMatchObject({ values: forked });
    expect(after[1]).toMatchObject({
      values: { notes: ['written', 'fork', 'written', 'left', 'right'] },
      next: ['sign'],
    });
    expect(after.slice(-before.length)).toEqual(before);
  });

  test('have nothing of a rolled-back run', async () => {
    const threadId = await noted();
    const { run_id } = await client.runs.create(threadId, 'notes', { input: { mood: 'undone', sleep_ms: 60_000 } });
    await expect.poll(async () => (await client.threads.getState(threadId)).next).toEqual(['write']);
    await client.runs.cancel(threadId, run_id, true, 'rollback');
    await client.runs.wait(threadId, 'notes', { input: { mood: 'new', notes: ['new'] } });
    expect(await client.threads.getState(threadId)).toMatchObject({
      values: {
        mood: 'new',
        notes: ['written', 'left', 'right', 'signed', 'new', 'written', 'left', 'right', 'signed'],
      },
    });
  });

  test('may be large, and contain any character', async () => {
    const { thread_id } = await client.threads.create({ graphId: 'notes' });
    const mood = `nul \u0000, half \ud800, ${'long '.repeat(100_000)}`;
    await client.threads.updateState(thread_id, { values: { mood }, asNode: 'sign' });
    expect(await client.threads.getState(thread_id)).toMatchObject({ values: { mood } });
    expect(await client.threads.get(thread_id)).toMatchObject({ values: { mood } });
    expect(await client.threads.getHistory(thread_id, { metadata: { writer: 'nul \u0000' } })).toEqual([]);
  });

  test('stored as deltas are combined, also after pruning', async () => {
    const { thread_id } = await client.threads.create();
    const lines = ['one', 'two', 'one', 'two'];
    for (const done of [lines.slice(0, 2), lines]) {
      expect(await client.runs.wait(thread_id, 'delta', { input: {} })).toEqual({ lines: done });
    }
    await client.threads.updateState(thread_id, { values: { lines: ['by hand'] }, asNode: 'two' });
    expect(await client.threads.prune([thread_id], { strategy: 'keep_latest' })).toEqual({ pruned_count: 1 });
    expect(await client.threads.getState(thread_id)).toMatchObject({ values: { lines: [...lines, 'by hand'] } });
    const copy = await client.threads.copy(thread_id);
    expect(await client.threads.getState(copy.thread_id)).toMatchObject({ values: { lines: [...lines, 'by hand'] } });
  });

  test('are read and written with the graph of the last run’s factory', async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'polite', {
      input: { mood: 'kind' },
      config: { configurable: { please: true } },
    });
    expect(await client.threads.getState(thread_id)).toMatchObject({
      values: { notes: expect.arrayContaining(['signed']) },
    });
    await client.threads.updateState(thread_id, { values: { notes: ['more'] }, asNode: 'write' });
    expect(await client.threads.getState(thread_id)).toMatchObject({ next: ['left', 'right'] });
  });

  test('are an error if a factory fails to create the graph', async () => {
    const { thread_id } = await client.threads.create();
    const config = { configurable: { please: 'never' } };
    await client.runs.wait(thread_id, 'polite', { input: {}, config }).catch(() => undefined);
    const words = expect.stringContaining('RangeError: Never say never');
    expect(await refusedWith(client.threads.getState(thread_id))).toMatchObject({ status: 422, words });
    expect(await refusedWith(client.threads.updateState(thread_id, { values: {} }))).toMatchObject({
      status: 422,
      words,
    });
    await client.threads.delete(thread_id);
  });
});

test('returns 404 for states of a graph that the revision does not have', async () => {
  const client = clientOf(serving.url);
  const { thread_id } = await client.threads.create({ graphId: 'gone' });
  expect(await refusedWith(client.threads.getState(thread_id))).toMatchObject({
    status: 404,
    words: expect.stringMatching(/Graph .+ not found\. Thread /),
  });
});
