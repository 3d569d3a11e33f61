import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { expect, test, vi } from 'vitest';
import { refusalOf } from './deployed.ts';

/** All methods of the client for threads. */
export function threadsOf(given: () => Client): void {
  test('create, get, update, search, count and delete', async () => {
    const { threads, runs } = given();
    const id = randomUUID();
    const made = await threads.create({ threadId: id, metadata: { by: 'sdk', of: id }, graphId: 'greeter', ttl: 60 });
    expect(made).toMatchObject({ thread_id: id, status: 'idle', values: null, metadata: { by: 'sdk', of: id } });
    expect(await refusalOf(threads.create({ threadId: id }))).toMatchObject({ status: 409 });
    expect(await threads.create({ threadId: id, ifExists: 'do_nothing' })).toMatchObject({ thread_id: id });
    expect(await threads.get(id, { include: ['ttl'] })).toMatchObject({ ttl: { strategy: 'delete' } });
    await runs.wait(id, 'greeter', { input: { input: 'Ada' } });
    expect(await threads.update(id, { metadata: { more: true } })).toMatchObject({
      metadata: { by: 'sdk', of: id, more: true },
    });
    expect(await threads.update(id, { metadata: { more: 2 }, ttl: 5, returnMinimal: true })).toBeUndefined();
    const query = { metadata: { of: id }, status: 'idle', values: { output: 'hello Ada' } } as const;
    const found = await threads.search({
      ...query,
      ids: [id],
      sortBy: 'created_at',
      select: ['thread_id', 'metadata'],
      extract: { said: 'values.output' },
    });
    expect(found).toEqual([
      { thread_id: id, metadata: expect.objectContaining({ more: 2 }), extracted: { said: 'hello Ada' } },
    ]);
    expect(await threads.count(query)).toBe(1);
    await threads.delete(id);
    expect(await refusalOf(threads.get(id))).toMatchObject({ status: 404 });
    expect(await threads.count({ metadata: { of: id } })).toBe(0);
  });

  test('getState, updateState, patchState and getHistory read and change the state', async () => {
    const { threads, runs } = given();
    const { thread_id: id } = await threads.create();
    await runs.wait(id, 'greeter', { input: { input: 'Ada' } });
    const state = await threads.getState(id);
    expect(state).toMatchObject({ values: { output: 'hello Ada' }, next: [] });
    const { configurable } = await threads.updateState(id, { values: { output: 'by hand' }, asNode: 'greet' });
    expect(configurable).toMatchObject({ thread_id: id });
    expect(await threads.getState(id)).toMatchObject({ values: { output: 'by hand' } });
    expect(await threads.getState(id, state.checkpoint)).toMatchObject({ values: { output: 'hello Ada' } });
    expect(await threads.getState(id, state.checkpoint.checkpoint_id ?? '')).toMatchObject({
      values: { output: 'hello Ada' },
    });
    const history = await threads.getHistory(id, { limit: 20 });
    expect(history.map(({ values }) => Reflect.get(Object(values), 'output'))).toEqual([
      'by hand',
      'hello Ada',
      undefined,
      undefined,
    ]);
    const before = await threads.getHistory(id, { before: { configurable: state.checkpoint } });
    expect(before.map(({ checkpoint }) => checkpoint.checkpoint_id)).not.toContain(state.checkpoint.checkpoint_id);
    await threads.patchState(id, { kept: 'yes' });
    expect(await threads.get(id)).toMatchObject({ metadata: { kept: 'yes' } });
    const requested = { output: 'hello Ada', checkpoint: state.checkpoint };
    expect(await runs.wait(id, 'greeter', { input: { input: 'Bea' }, checkpoint: requested.checkpoint })).toMatchObject(
      {
        output: 'hello Bea',
      },
    );
  });

  test('getState with subgraphs shows the state of an interrupted subgraph', async () => {
    const { threads, runs } = given();
    const { thread_id: id } = await threads.create();
    await runs.wait(id, 'interrupts', { input: { request: 'dance' } });
    expect(await threads.get(id)).toMatchObject({ status: 'interrupted' });
    expect(await threads.getState(id, undefined, { subgraphs: true })).toMatchObject({
      next: ['ask'],
      tasks: [{ name: 'ask', interrupts: [{ value: { question: 'May I dance?' } }] }],
    });
  });

  test('create with supersteps, copy, and prune', async () => {
    const { threads } = given();
    const { thread_id: id } = await threads.create({
      graphId: 'greeter',
      supersteps: [
        { updates: [{ values: { input: 'Ada' }, asNode: '__start__' }] },
        { updates: [{ values: { output: 'from outside' }, asNode: 'greet' }] },
      ],
    });
    expect(await threads.getState(id)).toMatchObject({ values: { input: 'Ada', output: 'from outside' }, next: [] });
    const copied = await threads.copy(id);
    expect(copied.thread_id).not.toBe(id);
    expect(await threads.getState(copied.thread_id)).toMatchObject({ values: { output: 'from outside' } });
    expect(await threads.getHistory(copied.thread_id)).toHaveLength(2);
    expect(await threads.prune([copied.thread_id], { strategy: 'keep_latest' })).toEqual({ pruned_count: 1 });
    expect(await threads.getHistory(copied.thread_id)).toHaveLength(1);
    expect(await threads.prune([copied.thread_id, randomUUID()])).toEqual({ pruned_count: 1 });
    expect(await refusalOf(threads.get(copied.thread_id))).toMatchObject({ status: 404 });
    expect(await threads.getHistory(id)).toHaveLength(2);
  });

  test('joinStream follows every run on a thread, and resumes after an event', async () => {
    const { threads, runs } = given();
    const { thread_id: id } = await threads.create();
    const stop = new AbortController();
    const heard: { id?: string; event: string; data: unknown }[] = [];
    const over = (async () => {
      for await (const event of threads.joinStream(id, { streamMode: ['run_modes'], signal: stop.signal }))
        heard.push(event);
    })().catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    const updates = (name: string) => ({ input: { input: name }, streamMode: ['updates' as const] });
    const run = async (name: string) => runs.join(id, (await runs.create(id, 'greeter', updates(name))).run_id);
    const reporting = (name: string) => heard.findLast(({ data }) => JSON.stringify(data).includes(`hello ${name}`));
    try {
      // The stream may open late, so start runs until it receives one.
      await vi.waitFor(
        async () => {
          await run('Ada');
          expect(reporting('Ada')).toMatchObject({ event: 'updates', id: expect.any(String) });
        },
        { timeout: 30_000, interval: 500 },
      );
    } finally {
      stop.abort();
      await over;
    }
    await run('Bea');
    const again = new AbortController();
    const missed: unknown[] = [];
    const from = { lastEventId: reporting('Ada')?.id ?? '', signal: again.signal };
    for await (const { event, data } of threads.joinStream(id, from)) {
      if (event === 'updates') missed.push(data);
      if (missed.length === 1) break;
    }
    again.abort();
    expect(missed).toEqual([{ greet: { output: 'hello Bea' } }]);
  });
}
