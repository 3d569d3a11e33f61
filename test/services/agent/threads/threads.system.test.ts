import type { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { askAt } from '../ask.ts';
import { UNKNOWN_ID } from '../promises/fixture.ts';
import type { Serving } from '../serving.ts';
import { clientOf, notedThread, refusedWith, serveThreads, waitingThread } from './clients.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveThreads();
});
afterAll(() => serving.close());

describe('threads, over HTTP', () => {
  let client: Client;
  beforeAll(() => {
    client = clientOf(serving.url);
  });

  const noted = () => notedThread(client);
  const waiting = () => waitingThread(client);

  describe('copied', () => {
    test('have the same states, and then diverge', async () => {
      const threadId = await noted();
      await client.threads.update(threadId, { metadata: { topic: 'weather' } });
      const copy = await client.threads.copy(threadId);
      const first = await client.threads.get(threadId);
      expect(copy).toMatchObject({ status: 'idle', values: first.values, metadata: first.metadata });
      expect(copy.thread_id).not.toBe(threadId);
      const [ours, theirs] = await Promise.all(
        [copy.thread_id, threadId].map((id) => client.threads.getHistory(id, { limit: 100 })),
      );
      expect(ours?.map(({ values, next }) => ({ values, next }))).toEqual(
        theirs?.map(({ values, next }) => ({ values, next })),
      );
      expect(
        ours?.every(({ checkpoint, metadata }) =>
          [checkpoint, metadata].every((each) => each?.thread_id === copy.thread_id),
        ),
      ).toBe(true);
      await client.runs.wait(copy.thread_id, 'notes', { input: { mood: 'new' } });
      expect(await client.threads.get(threadId)).toEqual(first);
      expect(await client.threads.getHistory(threadId, { limit: 100 })).toEqual(theirs);
      expect(await client.runs.list(copy.thread_id)).toHaveLength(1);
    });

    test('are interrupted like the original, and resume independently', async () => {
      const threadId = await waiting();
      const copy = await client.threads.copy(threadId);
      expect(copy).toMatchObject({ status: 'interrupted' });
      expect(Object.values(copy.interrupts)).toMatchObject([[{ value: { question: 'May I sing?' } }]]);
      expect(await client.runs.wait(copy.thread_id, 'deep', { command: { resume: 'loudly' } })).toMatchObject({
        answer: 'sing: loudly',
      });
      expect(await client.runs.wait(threadId, 'deep', { command: { resume: 'softly' } })).toMatchObject({
        answer: 'sing: softly',
      });
    });

    test('during a run have its state so far, and are not busy', async () => {
      const threadId = await noted();
      const { run_id } = await client.runs.create(threadId, 'notes', { input: { sleep_ms: 60_000 } });
      await expect.poll(async () => (await client.threads.getState(threadId)).next).toEqual(['write']);
      const copy = await client.threads.copy(threadId);
      expect(copy).toMatchObject({ status: 'interrupted', values: { mood: 'calm', sleep_ms: 60_000 } });
      expect(await client.runs.list(copy.thread_id)).toEqual([]);
      expect(await client.threads.get(threadId)).toMatchObject({ status: 'busy' });
      await client.runs.cancel(threadId, run_id, true);
      await client.threads.delete(copy.thread_id);
    });

    test('have more metadata from the first moment where the request has some', async () => {
      const threadId = await noted();
      await client.threads.update(threadId, { metadata: { topic: 'weather', mood: 'calm' } });
      const ask = askAt(serving.url);
      const { body } = await ask('POST', `/threads/${threadId}/copy`, { metadata: { mood: 'new', 'no\0ul': 1 } });
      const { metadata } = await client.threads.get(threadId);
      expect(body).toMatchObject({ metadata: { ...metadata, mood: 'new' } });
      expect(metadata).toMatchObject({ topic: 'weather', mood: 'calm' });
      for (const empty of [{}, null, { metadata: null }, { metadata: {} }, { unknown: 1 }]) {
        expect(await ask('POST', `/threads/${threadId}/copy`, empty)).toMatchObject({
          status: 200,
          body: { metadata },
        });
      }
      expect(await ask('POST', `/threads/${threadId}/copy`, { metadata: 'new' })).toMatchObject({ status: 422 });
    });

    test('return 404 if the original is missing', async () => {
      expect(await refusedWith(client.threads.copy(UNKNOWN_ID))).toMatchObject({ status: 404 });
    });
  });

  describe('pruned', () => {
    test('keep only their latest state, and continue from it', async () => {
      const threadId = await noted();
      const before = await client.threads.getState(threadId);
      expect(await client.threads.prune([threadId, threadId, UNKNOWN_ID], { strategy: 'keep_latest' })).toEqual({
        pruned_count: 1,
      });
      expect(await client.threads.getState(threadId)).toEqual({ ...before, parent_checkpoint: null });
      expect(await client.threads.getHistory(threadId, { limit: 100 })).toHaveLength(1);
      expect(await client.threads.get(threadId)).toMatchObject({ status: 'idle', values: before.values });
      expect(await client.runs.wait(threadId, 'notes', { input: { mood: 'new' } })).toMatchObject({
        notes: ['written', 'left', 'right', 'signed', 'written', 'left', 'right', 'signed'],
      });
    });

    test('still resume two subgraphs deep, without ended subgraph states', async () => {
      const threadId = await waiting();
      const inside = (await client.threads.getState(threadId)).tasks[0]?.checkpoint ?? {};
      const insideStates = () => client.threads.getHistory(threadId, { limit: 9, checkpoint: inside });
      await client.threads.prune([threadId], { strategy: 'keep_latest' });
      expect(await insideStates()).toHaveLength(1);
      const whole = await client.threads.getState(threadId, undefined, { subgraphs: true });
      expect(whole.tasks[0]?.state?.tasks[0]?.state).toMatchObject({ next: ['ask'] });
      expect(await client.runs.wait(threadId, 'deep', { command: { resume: 'softly' } })).toMatchObject({
        answer: 'sing: softly',
      });
      await client.threads.prune([threadId], { strategy: 'keep_latest' });
      expect(await insideStates()).toEqual([]);
      expect(await client.threads.getState(threadId)).toMatchObject({ next: [], values: { answer: 'sing: softly' } });
    });

    test('are deleted by default, with their runs, and counted', async () => {
      const ids = [await noted(), await noted()];
      expect(await client.threads.prune([...ids, UNKNOWN_ID])).toEqual({ pruned_count: 2 });
      for (const id of ids) expect(await refusedWith(client.threads.get(id))).toMatchObject({ status: 404 });
      expect(await client.threads.prune([])).toEqual({ pruned_count: 0 });
    });

    test('are unchanged during a run', async () => {
      const threadId = await noted();
      const { run_id } = await client.runs.create(threadId, 'notes', { input: { sleep_ms: 60_000 } });
      const states = async (): Promise<number> => (await client.threads.getHistory(threadId, { limit: 100 })).length;
      // The run has written its first state.
      await vi.waitFor(async () => expect(await states()).toBeGreaterThan(5), 20_000);
      expect(await client.threads.prune([threadId], { strategy: 'keep_latest' })).toEqual({ pruned_count: 0 });
      await client.runs.cancel(threadId, run_id, true);
      expect(await states()).toBeGreaterThan(5);
    });
  });

  describe('created with supersteps', () => {
    test('have the states as if their graph had run', async () => {
      const thread = await client.threads.create({
        graphId: 'notes',
        supersteps: [
          { updates: [{ values: { mood: 'imported' }, asNode: '__input__' }] },
          { updates: [{ values: { mood: 'imported' }, asNode: '__start__' }] },
          { updates: [{ values: { notes: ['one'] }, asNode: 'write' }] },
          {
            updates: [
              { values: { notes: ['two'] }, asNode: 'left' },
              { values: { notes: ['three'] }, asNode: 'right' },
            ],
          },
        ],
      });
      expect(thread).toMatchObject({
        status: 'interrupted',
        values: { mood: 'imported', notes: ['one', 'two', 'three'] },
      });
      const history = await client.threads.getHistory(thread.thread_id, { limit: 100 });
      expect(history.map(({ next }) => next)).toEqual([['sign'], ['left', 'right'], ['write'], ['__start__']]);
      expect(await client.runs.wait(thread.thread_id, 'notes', { input: null })).toMatchObject({
        notes: ['one', 'two', 'three', 'signed'],
      });
    });

    test('may have commands instead of values', async () => {
      const thread = await client.threads.create({
        graphId: 'notes',
        supersteps: [
          { updates: [{ values: { mood: 'calm' }, asNode: '__input__' }] },
          { updates: [{ values: null, command: { update: { notes: ['updated'] }, goto: 'sign' }, asNode: 'write' }] },
        ],
      });
      expect(await client.threads.getState(thread.thread_id)).toMatchObject({
        values: { notes: ['updated'] },
        next: expect.arrayContaining(['sign']),
      });
    });

    test('are not created if their graph rejects the steps', async () => {
      const threadId = crypto.randomUUID();
      const steps = [
        { updates: [{ values: { mood: 'calm' }, asNode: '__input__' }] },
        { updates: [{ values: {}, asNode: 'unknown' }] },
      ];
      expect(await refusedWith(client.threads.create({ threadId, graphId: 'notes', supersteps: steps }))).toMatchObject(
        { status: 422 },
      );
      expect(await refusedWith(client.threads.create({ threadId, supersteps: steps }))).toMatchObject({ status: 422 });
      expect(await refusedWith(client.threads.create({ threadId, graphId: 'gone', supersteps: steps }))).toMatchObject({
        status: 422,
      });
      expect(await refusedWith(client.threads.get(threadId))).toMatchObject({ status: 404 });
    });

    test('are unchanged if they exist', async () => {
      const threadId = await noted();
      const before = await client.threads.get(threadId);
      const supersteps = [{ updates: [{ values: { mood: 'other' }, asNode: 'sign' }] }];
      expect(await refusedWith(client.threads.create({ threadId, graphId: 'notes', supersteps }))).toMatchObject({
        status: 409,
      });
      expect(await client.threads.create({ threadId, graphId: 'notes', supersteps, ifExists: 'do_nothing' })).toEqual(
        before,
      );
    });
  });

  describe('searched and counted', () => {
    test('are found by metadata, values, status and ids, alone and combined', async () => {
      const mark = crypto.randomUUID();
      const [idle, waits] = [await noted(), await waiting()];
      const { thread_id: fresh } = await client.threads.create();
      for (const id of [idle, waits, fresh])
        await client.threads.update(id, { metadata: { mark, deep: { a: 1, b: [2] } } });
      const found = async (query: NonNullable<Parameters<Client['threads']['search']>[0]>) =>
        (await client.threads.search({ metadata: { mark }, ...query })).map(({ thread_id }) => thread_id).toSorted();
      expect(await found({})).toEqual([idle, waits, fresh].toSorted());
      expect(await found({ metadata: { mark, deep: { b: [2] } } })).toHaveLength(3);
      expect(await found({ metadata: { mark, deep: { a: 2 } } })).toEqual([]);
      expect(await found({ status: 'interrupted' })).toEqual([waits]);
      expect(await found({ status: 'idle', values: { mood: 'calm' } })).toEqual([idle]);
      expect(await found({ values: { notes: ['signed'] } })).toEqual([idle]);
      expect(await found({ ids: [fresh, UNKNOWN_ID] })).toEqual([fresh]);
      expect(await client.threads.count({ metadata: { mark } })).toBe(3);
      expect(await client.threads.count({ metadata: { mark }, status: 'idle' })).toBe(2);
      expect(await client.threads.count({ metadata: { mark }, values: { request: 'sing' } })).toBe(1);
    });

    test('are sorted, paged and limited to the selected fields', async () => {
      const mark = crypto.randomUUID();
      const ids: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        const { thread_id, created_at } = await client.threads.create({ metadata: { mark, n } });
        ids.push(thread_id);
        // Threads of the same millisecond have no defined order.
        await vi.waitUntil(() => Date.now() > Date.parse(created_at), { interval: 1 });
      }
      await client.runs.wait(ids[1] ?? '', 'notes', { input: {} });
      const order = async (query: NonNullable<Parameters<Client['threads']['search']>[0]>) =>
        (await client.threads.search({ metadata: { mark }, ...query })).map(({ thread_id }) => ids.indexOf(thread_id));
      expect(await order({})).toEqual([2, 1, 0]);
      expect(await order({ sortBy: 'created_at', sortOrder: 'asc' })).toEqual([0, 1, 2]);
      expect(await order({ sortBy: 'updated_at' })).toEqual([1, 2, 0]);
      expect(await order({ sortBy: 'state_updated_at' })).toEqual([1, 2, 0]);
      expect(await order({ sortBy: 'thread_id', sortOrder: 'asc' })).toEqual(
        ids.toSorted().map((id) => ids.indexOf(id)),
      );
      expect(await order({ limit: 1, offset: 1 })).toEqual([1]);
      expect(await client.threads.search({ ids: [ids[0] ?? ''], select: ['thread_id', 'status'] })).toEqual([
        { thread_id: ids[0], status: 'idle' },
      ]);
    });

    test('return extracted values under the client’s names', async () => {
      const threadId = await noted();
      const [thread] = await client.threads.search({
        ids: [threadId],
        select: ['thread_id'],
        extract: { last: 'values.notes[-1]', graph: 'metadata.graph_id', nothing: 'values.nothing[3].here' },
      });
      expect(thread).toEqual({ thread_id: threadId, extracted: { last: 'signed', graph: 'notes', nothing: null } });
      expect(await refusedWith(client.threads.search({ extract: { odd: 'values..notes' } }))).toMatchObject({
        status: 422,
      });
      const many = Object.fromEntries(Array.from({ length: 11 }, (__, at) => [`p${at}`, 'status']));
      expect(await refusedWith(client.threads.search({ extract: many }))).toMatchObject({ status: 422 });
    });
  });

  test('can be updated without a response body', async () => {
    const { thread_id } = await client.threads.create();
    expect(await client.threads.update(thread_id, { metadata: { a: 1 }, returnMinimal: true })).toBeUndefined();
    expect((await client.threads.get(thread_id)).metadata).toEqual({ a: 1 });
    expect(await refusedWith(client.threads.update(UNKNOWN_ID, { metadata: {} }))).toMatchObject({ status: 404 });
  });
});
