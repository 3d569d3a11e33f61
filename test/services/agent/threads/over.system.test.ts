import type { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Serving } from '../serving.ts';
import { clientOf, refusedWith, serveThreads } from './clients.ts';
import { forwardClock, isGone, MINUTE, stays } from './forward-clock.ts';

describe('an expired thread, over HTTP', () => {
  const clock = forwardClock();
  let serving: Serving;
  let client: Client;
  beforeAll(async () => {
    // The sweep runs every five minutes, so nothing removes it.
    serving = await serveThreads({ clock });
    client = clientOf(serving.url);
  });
  afterAll(() => serving.close());

  test('is missing, although nothing has removed it yet', async () => {
    const mark = crypto.randomUUID();
    const { thread_id } = await client.threads.create({ ttl: 10, metadata: { mark } });
    const { run_id } = await client.runs.create(thread_id, 'notes', { input: {}, streamResumable: true });
    await client.runs.join(thread_id, run_id);
    const listed = async () => [
      (await client.threads.search({ metadata: { mark } })).length,
      await client.threads.count({ metadata: { mark } }),
    ];
    expect(await listed()).toEqual([1, 1]);
    clock.forward(10 * MINUTE);
    expect(await listed()).toEqual([0, 0]);
    const calls = {
      get: client.threads.get(thread_id),
      update: client.threads.update(thread_id, { metadata: { late: true } }),
      revive: client.threads.update(thread_id, { ttl: 10 }),
      copy: client.threads.copy(thread_id),
      state: client.threads.getState(thread_id),
      history: client.threads.getHistory(thread_id),
      write: client.threads.updateState(thread_id, { values: { notes: ['late'] } }),
      runs: client.runs.list(thread_id),
      run: client.runs.get(thread_id, run_id),
      join: client.runs.join(thread_id, run_id),
      cancel: client.runs.cancel(thread_id, run_id),
      forget: client.runs.delete(thread_id, run_id),
      start: client.runs.create(thread_id, 'notes', { input: {} }),
      wait: client.runs.wait(thread_id, 'notes', { input: {} }),
      cron: client.crons.createForThread(thread_id, 'notes', { schedule: '0 0 1 1 *', input: {} }),
      delete: client.threads.delete(thread_id),
    };
    const answers = Object.entries(calls).map(async ([call, made]) => [call, (await refusedWith(made)).status]);
    expect(Object.fromEntries(await Promise.all(answers))).toEqual(
      Object.fromEntries(Object.keys(calls).map((call) => [call, 404])),
    );
    const stream = await serving.fetch(new Request(`http://agent.test/runs/${run_id}/stream`));
    expect(stream.status).toBe(404);
    expect(await client.threads.prune([thread_id])).toEqual({ pruned_count: 0 });
  });

  test('has no crons, unlike other threads', async () => {
    const mark = crypto.randomUUID();
    const { thread_id } = await client.threads.create({ ttl: 10 });
    const order = { schedule: '0 0 1 1 *', input: {}, metadata: { mark } };
    const { cron_id } = Object(await client.crons.createForThread(thread_id, 'notes', order));
    const { cron_id: other } = Object(await client.crons.create('notes', order));
    const listed = async () => {
      const found = await client.crons.search({ metadata: { mark } });
      return [found.map((cron) => cron.cron_id).toSorted(), await client.crons.count({ metadata: { mark } })];
    };
    expect(await listed()).toEqual([[String(cron_id), String(other)].toSorted(), 2]);
    clock.forward(10 * MINUTE);
    expect(await listed()).toEqual([[other], 1]);
    expect((await refusedWith(client.crons.update(cron_id, { enabled: false }))).status).toBe(404);
    expect((await refusedWith(client.crons.delete(cron_id))).status).toBe(404);
    await client.crons.delete(other);
  });

  test('frees its id for a new thread without its data', async () => {
    for (const again of [
      (threadId: string) => client.threads.create({ threadId }),
      (threadId: string) => client.threads.create({ threadId, ifExists: 'do_nothing' }),
      async (threadId: string) => {
        await client.runs.wait(threadId, 'notes', { input: {}, ifNotExists: 'create' });
        return client.threads.get(threadId);
      },
      (threadId: string) =>
        client.threads.create({
          threadId,
          graphId: 'notes',
          supersteps: [{ updates: [{ values: { notes: ['new'] }, asNode: '__start__' }] }],
        }),
    ]) {
      const { thread_id } = await client.threads.create({ ttl: 10, metadata: { former: true } });
      await client.runs.wait(thread_id, 'notes', { input: {} });
      const [former] = await client.threads.getHistory(thread_id, { limit: 1 });
      clock.forward(10 * MINUTE);
      const thread = await again(thread_id);
      expect(thread).toMatchObject({ thread_id, metadata: expect.not.objectContaining({ former: true }) });
      const left = await client.threads.getHistory(thread_id, { limit: 100 });
      expect(left.map(({ checkpoint }) => checkpoint.checkpoint_id)).not.toContain(former?.checkpoint.checkpoint_id);
      clock.forward(20 * MINUTE);
      expect(await stays(client, thread_id)).toBe(true);
    }
  });

  test('exists as long as a run is active, and clients get the run’s result', async () => {
    const { thread_id } = await client.threads.create({ ttl: 10 });
    const { run_id } = await client.runs.create(thread_id, 'notes', { input: { sleep_ms: 60_000 } });
    clock.forward(11 * MINUTE);
    expect((await client.threads.get(thread_id)).status).toBe('busy');
    expect((await client.runs.get(thread_id, run_id)).run_id).toBe(run_id);
    await client.runs.cancel(thread_id, run_id, true);
    expect(await isGone(client, thread_id)).toBe(true);
  });
});
