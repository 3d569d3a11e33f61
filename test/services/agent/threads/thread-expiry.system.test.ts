import { silentLogger } from '../../../../src/kit/logger.ts';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStorage } from '../../../../src/services/agent/storage/open.ts';
import { lifetimesOf } from '../../../../src/services/agent/threads/lifetime.ts';
import { threadExpiry } from '../../../../src/services/agent/threads/thread-expiry.ts';
import { startAgentServer } from '../../../../src/services/agent/server.ts';
import type { Serving } from '../serving.ts';
import { clientOf, refusedWith, serveThreads } from './clients.ts';
import { forwardClock, isGone, MINUTE, stays } from './forward-clock.ts';

const config = (name: string) => join(import.meta.dirname, 'agent', name);

/** The time to live of a thread, which the client sends but has no type for. */
const ttlOf = async (client: Client, threadId: string): Promise<unknown> =>
  Reflect.get(await client.threads.get(threadId, { include: ['ttl'] }), 'ttl');

describe('the time to live of threads, over HTTP', () => {
  const clock = forwardClock();
  let serving: Serving;
  let client: Client;
  beforeAll(async () => {
    serving = await serveThreads({ configPath: config('short-lived.json'), clock });
    client = clientOf(serving.url);
  });
  afterAll(() => serving.close());

  test('deletes a thread with all its data when it expires', async () => {
    const { thread_id } = await client.threads.create({ ttl: 10 });
    await client.runs.wait(thread_id, 'notes', { input: {} });
    expect(await ttlOf(client, thread_id)).toEqual({
      strategy: 'delete',
      ttl_minutes: 10,
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    clock.forward(9 * MINUTE);
    expect(await stays(client, thread_id)).toBe(true);
    clock.forward(2 * MINUTE);
    await expect.poll(() => isGone(client, thread_id)).toBe(true);
  });

  test('restarts when it is set again', async () => {
    const { thread_id } = await client.threads.create({ ttl: { ttl: 10 } });
    clock.forward(9 * MINUTE);
    await client.threads.update(thread_id, { ttl: 20 });
    clock.forward(19 * MINUTE);
    expect(await stays(client, thread_id)).toBe(true);
    clock.forward(2 * MINUTE);
    await expect.poll(() => isGone(client, thread_id)).toBe(true);
  });

  test('defaults to the configured one, counted from the last update', async () => {
    const [{ thread_id: left }, { thread_id: used }] = [await client.threads.create(), await client.threads.create()];
    expect(await ttlOf(client, left)).toMatchObject({ strategy: 'delete', ttl_minutes: 60 });
    expect(await client.threads.get(left)).not.toHaveProperty('ttl');
    clock.forward(40 * MINUTE);
    await client.runs.wait(used, 'notes', { input: {} });
    clock.forward(40 * MINUTE);
    await expect.poll(() => isGone(client, left)).toBe(true);
    expect(await stays(client, used)).toBe(true);
  });

  test('does not expire during a run', async () => {
    const { thread_id } = await client.threads.create({ ttl: 1 });
    const { run_id } = await client.runs.create(thread_id, 'notes', { input: { sleep_ms: 60_000 } });
    clock.forward(2 * MINUTE);
    expect(await stays(client, thread_id)).toBe(true);
    await client.runs.cancel(thread_id, run_id, true);
    await expect.poll(() => isGone(client, thread_id)).toBe(true);
  });

  test('is copied with a thread, and restarts there', async () => {
    const { thread_id } = await client.threads.create({ ttl: 10 });
    clock.forward(9 * MINUTE);
    const copy = await client.threads.copy(thread_id);
    clock.forward(2 * MINUTE);
    await expect.poll(() => isGone(client, thread_id)).toBe(true);
    expect(await stays(client, copy.thread_id)).toBe(true);
    clock.forward(9 * MINUTE);
    await expect.poll(() => isGone(client, copy.thread_id)).toBe(true);
  });

  test('is rejected if invalid', async () => {
    for (const ttl of [0, -1, 1e12])
      expect(await refusedWith(client.threads.create({ ttl }))).toMatchObject({ status: 422 });
  });
});

test('threads with keep_latest lose their older states at each expiry', async () => {
  const clock = forwardClock();
  const serving = await serveThreads({ configPath: config('forgetful.json'), clock });
  try {
    const client = new Client({ apiUrl: serving.url, apiKey: null });
    const { thread_id } = await client.threads.create();
    const states = async () => (await client.threads.getHistory(thread_id, { limit: 100 })).length;
    for (const times of [1, 2]) {
      await client.runs.wait(thread_id, 'notes', { input: {} });
      expect(await states()).toBeGreaterThan(4);
      clock.forward(61 * MINUTE);
      await expect.poll(states).toBe(1);
      expect(await ttlOf(client, thread_id)).toMatchObject({ strategy: 'keep_latest', expires_at: null });
      expect(await client.threads.getState<{ notes: string[] }>(thread_id)).toMatchObject({
        values: { notes: Array.from({ length: times }, () => ['written', 'left', 'right', 'signed']).flat() },
      });
    }
  } finally {
    await serving.close();
  }
});

test('threads from before the configuration of a time to live never expire', async () => {
  const clock = forwardClock();
  const serving = await serveThreads({ clock });
  try {
    const client = new Client({ apiUrl: serving.url, apiKey: null });
    const { thread_id: old } = await client.threads.create();
    expect(await ttlOf(client, old)).toBeNull();
    clock.forward(MINUTE);
    const next = await startAgentServer({
      configPath: config('short-lived.json'),
      databaseUrl: serving.databaseUrl,
      host: '127.0.0.1',
      port: 0,
      clock,
      log: silentLogger,
    });
    try {
      const later = new Client({ apiUrl: next.url, apiKey: null });
      const { thread_id: young } = await later.threads.create();
      clock.forward(61 * MINUTE);
      await expect.poll(() => isGone(client, young)).toBe(true);
      expect(await stays(client, old)).toBe(true);
      expect(await ttlOf(later, old)).toBeNull();
    } finally {
      await next.close();
    }
  } finally {
    await serving.close();
  }
});

test('an expired thread is processed once by several processes', async () => {
  const clock = forwardClock();
  const serving = await serveThreads({ clock });
  const storages = await Promise.all(
    [1, 2].map(() => openStorage(serving.databaseUrl, crypto.randomUUID(), silentLogger)),
  );
  try {
    const client = new Client({ apiUrl: serving.url, apiKey: null });
    const made = await Promise.all(Array.from({ length: 20 }, () => client.threads.create({ ttl: 1 })));
    const later = { ...clock, now: () => clock.now() + 2 * MINUTE };
    const processes = storages.map((storage) => threadExpiry(storage, lifetimesOf(undefined), later));
    const seenTo = await Promise.all(
      processes.map(async (lives) => {
        let count = 0;
        for (const thread of await lives.due()) if (await lives.end(thread, false)) count += 1;
        return count;
      }),
    );
    expect(seenTo.reduce((sum, count) => sum + count, 0)).toBe(made.length);
    expect(await client.threads.count()).toBe(0);
  } finally {
    await Promise.all(storages.map((storage) => storage.close()));
    await serving.close();
  }
});

test('a deleted thread leaves nothing in the database', async () => {
  const serving = await serveThreads();
  const storage = await openStorage(serving.databaseUrl, crypto.randomUUID(), silentLogger);
  try {
    const client = new Client({ apiUrl: serving.url, apiKey: null });
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'deep', { input: { request: 'rest' } });
    await client.crons.createForThread(thread_id, 'notes', { schedule: '0 0 1 1 *', input: {} });
    const tables = await storage.pool.query<{ table_name: string }>(
      "select table_name from information_schema.columns where column_name = 'thread_id' and table_schema = 'public'",
    );
    const left = async () => {
      const found: string[] = [];
      for (const { table_name } of tables.rows) {
        const rows = await storage.pool.query(`select from ${table_name} where thread_id::text = $1`, [thread_id]);
        if (rows.rowCount !== 0) found.push(table_name);
      }
      return found.toSorted();
    };
    expect(await left()).toEqual(['checkpoint_blobs', 'checkpoint_writes', 'checkpoints', 'crons', 'runs', 'threads']);
    await client.threads.delete(thread_id);
    expect(await left()).toEqual([]);
  } finally {
    await storage.close();
    await serving.close();
  }
});

test('neither do runs that start while their thread is being deleted', async () => {
  const serving = await serveThreads();
  const storage = await openStorage(serving.databaseUrl, crypto.randomUUID(), silentLogger);
  try {
    const client = new Client({ apiUrl: serving.url, apiKey: null, callerOptions: { maxRetries: 0 } });
    for (let n = 0; n < 15; n += 1) {
      const { thread_id } = await client.threads.create();
      const started = Array.from({ length: 4 }, () =>
        client.runs.create(thread_id, 'notes', { input: { sleep_ms: 5 } }),
      );
      const outcomes = await Promise.allSettled([...started, client.threads.delete(thread_id)]);
      expect(outcomes.at(-1)).toMatchObject({ status: 'fulfilled' });
    }
    const left = 'select run_id from runs where not exists (select from threads t where t.thread_id = runs.thread_id)';
    expect((await storage.pool.query(left)).rows).toEqual([]);
    const states = 'select thread_id from checkpoints where thread_id not in (select thread_id::text from threads)';
    expect((await storage.pool.query(states)).rows).toEqual([]);
  } finally {
    await storage.close();
    await serving.close();
  }
});
