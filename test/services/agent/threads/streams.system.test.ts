import { silentLogger } from '../../../../src/kit/logger.ts';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAgentServer } from '../../../../src/services/agent/server.ts';
import { ISO, UNKNOWN_ID } from '../promises/fixture.ts';
import { hurriedClock } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { clientOf, refusedWith, serveThreads, threadsAgent } from './clients.ts';

interface Heard {
  id?: string;
  event: string;
  data: unknown;
}

type JoinOptions = NonNullable<Parameters<Client['threads']['joinStream']>[1]>;

/** Follows a thread in the background; `opened` resolves once the server follows it, too. */
function listenTo(url: string, threadId: string, options: JoinOptions = {}) {
  const stop = new AbortController();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const client = new Client({
    apiUrl: url,
    apiKey: null,
    callerOptions: {
      maxRetries: 0,
      fetch: async (...request: Parameters<typeof fetch>) => {
        const response = await fetch(...request);
        open();
        return response;
      },
    },
  });
  const heard: Heard[] = [];
  const over = (async () => {
    try {
      for await (const { id, event, data } of client.threads.joinStream(threadId, { ...options, signal: stop.signal }))
        // After a broken connection, the client returns an event without a name.
        if (String(event) !== '') heard.push({ ...(id === undefined ? {} : { id }), event, data });
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
  })();
  const leave = async () => {
    stop.abort();
    await over;
  };
  return {
    heard,
    opened,
    over,
    leave,
    names: () => heard.map(({ event }) => event),
    ends: () => heard.filter(isEnd).length,
  };
}

const isEnd = ({ event, data }: Heard): boolean =>
  event === 'metadata' && typeof data === 'object' && data !== null && Reflect.get(data, 'status') === 'run_done';

let serving: Serving;
beforeAll(async () => {
  serving = await serveThreads();
});
afterAll(() => serving.close());

describe('the stream of a thread, over HTTP', () => {
  let client: Client;
  beforeAll(() => {
    client = clientOf(serving.url);
  });

  test('has the events of all its runs in order, and stays open', async () => {
    const { thread_id } = await client.threads.create();
    const { opened, heard, leave, ends } = listenTo(serving.url, thread_id);
    await opened;
    const before = await client.runs.create(thread_id, 'notes', { input: { mood: 'calm' }, streamMode: ['updates'] });
    await client.runs.join(thread_id, before.run_id);
    const { run_id } = await client.runs.create(thread_id, 'notes', { input: { mood: 'new' } });
    await expect.poll(ends).toBe(2);
    const names = heard.map((each) => (isEnd(each) ? 'end' : each.event));
    expect(names.slice(0, 6)).toEqual(['metadata', 'updates', 'updates', 'updates', 'updates', 'end']);
    expect(names.slice(6)).toEqual(['metadata', ...Array.from({ length: 4 }, () => 'values'), 'end']);
    expect(heard.at(-1)?.data).toEqual({ run_id, status: 'run_done' });
    const ids = heard.map(({ id }) => Number(id));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(ids.length);
    await leave();
  });

  test('does not affect the stream of a run itself', async () => {
    const { thread_id } = await client.threads.create();
    const { opened, heard, leave, ends } = listenTo(serving.url, thread_id);
    await opened;
    const own: Heard[] = [];
    for await (const { event, data } of client.runs.stream(thread_id, 'notes', {
      input: {},
      streamMode: ['updates', 'values'],
    }))
      own.push({ event, data });
    await expect.poll(ends).toBe(1);
    expect(heard.filter((each) => !isEnd(each)).map(({ event, data }) => ({ event, data }))).toEqual(own);
    await leave();
  });

  test('has only lifecycle events or state updates, on request', async () => {
    const { thread_id } = await client.threads.create();
    const lives = listenTo(serving.url, thread_id, { streamMode: 'lifecycle' });
    const states = listenTo(serving.url, thread_id, { streamMode: ['state_update'] });
    const both = listenTo(serving.url, thread_id, { streamMode: ['lifecycle', 'state_update'] });
    await Promise.all([lives.opened, states.opened, both.opened]);
    const { run_id } = await client.runs.create(thread_id, 'notes', { input: { mood: 'calm' } });
    await client.runs.join(thread_id, run_id);
    await client.threads.updateState(thread_id, { values: { mood: 'by hand' }, asNode: 'sign' });
    await expect.poll(() => both.heard.length).toBe(3);
    expect(lives.heard.map(({ data }) => data)).toEqual([
      { run_id, attempt: 1 },
      { run_id, status: 'run_done' },
    ]);
    expect(states.heard).toMatchObject([
      { event: 'state_update', data: { thread_id, state: { values: { mood: 'by hand' }, next: [] } } },
    ]);
    expect(both.heard).toEqual([...lives.heard, ...states.heard]);
    await Promise.all([lives.leave(), states.leave(), both.leave()]);
  });

  test('continues after the last received event, or from the start', async () => {
    const { thread_id } = await client.threads.create();
    const first = listenTo(serving.url, thread_id);
    await first.opened;
    await client.runs.wait(thread_id, 'notes', { input: {} });
    await expect.poll(first.ends).toBe(1);
    await first.leave();
    const more = await client.runs.create(thread_id, 'notes', { input: {}, streamMode: ['updates'] });
    await client.runs.join(thread_id, more.run_id);
    const [, second] = first.heard;
    const again = listenTo(serving.url, thread_id, { lastEventId: second?.id ?? '' });
    await expect.poll(again.ends).toBe(2);
    expect(again.heard.slice(0, first.heard.length - 2)).toEqual(first.heard.slice(2));
    expect(again.names().slice(first.heard.length - 2)).toEqual([
      'metadata',
      'updates',
      'updates',
      'updates',
      'updates',
      'metadata',
    ]);
    await again.leave();
    const whole = listenTo(serving.url, thread_id, { lastEventId: '-' });
    await expect.poll(whole.ends).toBe(2);
    await whole.leave();
  });

  test('has runs that ended before, from the last received event', async () => {
    const { thread_id } = await client.threads.create();
    const before = String(Date.now() * 1000);
    const { run_id: well } = await client.runs.create(thread_id, 'notes', { input: {} });
    await client.runs.join(thread_id, well);
    const { run_id: badly } = await client.runs.create(thread_id, 'notes', { input: { mood: 'cross' } });
    await client.runs.join(thread_id, badly).catch(() => undefined);
    const { heard, leave, ends } = listenTo(serving.url, thread_id, { lastEventId: before });
    await expect.poll(ends).toBe(2);
    expect(heard.map(({ event, data }) => ({ event, data }))).toEqual([
      { event: 'metadata', data: { run_id: well, attempt: 1 } },
      { event: 'metadata', data: { run_id: well, status: 'run_done' } },
      { event: 'metadata', data: { run_id: badly, attempt: 1 } },
      { event: 'error', data: { error: 'TypeError', message: 'Too cross to go on' } },
      { event: 'metadata', data: { run_id: badly, status: 'run_done' } },
    ]);
    await leave();
  });

  test('starts with the active run for a client that joins midway', async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'notes', { input: { sleep_ms: 60_000 } });
    await expect.poll(async () => (await client.runs.get(thread_id, run_id)).status).toBe('running');
    const listeners = [listenTo(serving.url, thread_id), listenTo(serving.url, thread_id)];
    await Promise.all(listeners.map(({ opened }) => opened));
    await client.runs.cancel(thread_id, run_id, true);
    for (const { heard, ends } of listeners) {
      await expect.poll(ends).toBe(1);
      expect(heard[0]).toMatchObject({ event: 'metadata', data: { run_id, attempt: 1 } });
    }
    await Promise.all(listeners.map(({ leave }) => leave()));
  });

  test('has a queued run once it starts', async () => {
    const { thread_id } = await client.threads.create();
    const { opened, heard, leave, ends } = listenTo(serving.url, thread_id, { streamMode: 'lifecycle' });
    await opened;
    const first = await client.runs.create(thread_id, 'notes', { input: { sleep_ms: 300 }, streamMode: ['updates'] });
    const second = await client.runs.create(thread_id, 'notes', { input: {}, multitaskStrategy: 'enqueue' });
    await expect.poll(ends).toBe(2);
    expect(
      heard.map(({ data }) => (typeof data === 'object' && data !== null ? Reflect.get(data, 'run_id') : undefined)),
    ).toEqual([first.run_id, first.run_id, second.run_id, second.run_id]);
    await leave();
  });

  test('ends with the thread', async () => {
    const { thread_id } = await client.threads.create();
    const { opened, over } = listenTo(serving.url, thread_id);
    await opened;
    await client.threads.delete(thread_id);
    await over;
    expect(await refusedWith(listenTo(serving.url, thread_id).over)).toMatchObject({ status: 404 });
  });

  test('rejects an unknown thread, an invalid mode and an invalid event id', async () => {
    expect(await refusedWith(listenTo(serving.url, UNKNOWN_ID).over)).toMatchObject({ status: 404 });
    const { thread_id } = await client.threads.create();
    const odd = await serving.fetch(new Request(`http://agent.test/threads/${thread_id}/stream?stream_modes=all`));
    expect(odd.status).toBe(422);
    expect(await refusedWith(listenTo(serving.url, thread_id, { lastEventId: 'x' }).over)).toMatchObject({
      status: 422,
    });
  });
});

test('the stream of a thread has the events of other processes', async () => {
  const other = await startAgentServer({
    configPath: threadsAgent,
    databaseUrl: serving.databaseUrl,
    host: '127.0.0.1',
    port: 0,
    clock: hurriedClock,
    log: silentLogger,
    drainMs: 0,
  });
  try {
    const [here, there] = [serving.url, other.url].map((apiUrl) => new Client({ apiUrl, apiKey: null }));
    if (!here || !there) throw new Error('There are two clients.');
    const { thread_id, created_at } = await here.threads.create();
    expect(created_at).toMatch(ISO);
    const { opened, heard, leave, ends, over } = listenTo(serving.url, thread_id, {
      streamMode: ['run_modes', 'state_update'],
    });
    await opened;
    const quick = await there.runs.create(thread_id, 'notes', { input: {} });
    await expect.poll(ends).toBe(1);
    // The other process keeps its events only from when it knows that they are followed.
    const slow = await there.runs.create(thread_id, 'notes', { input: { sleep_ms: 10_000 }, streamMode: ['updates'] });
    await expect.poll(ends).toBe(2);
    const ofSlow = heard.slice(heard.findIndex(isEnd) + 1).map((each) => (isEnd(each) ? 'end' : each.event));
    expect(ofSlow).toEqual(['metadata', 'updates', 'updates', 'updates', 'updates', 'end']);
    expect(heard.filter(isEnd).map(({ data }) => data)).toMatchObject([
      { run_id: quick.run_id },
      { run_id: slow.run_id },
    ]);
    await there.threads.updateState(thread_id, { values: { mood: 'far' }, asNode: 'sign' });
    await expect
      .poll(() => heard.at(-1))
      .toMatchObject({
        event: 'state_update',
        data: { state: { values: { mood: 'far' } } },
      });
    expect(heard.filter(({ event }) => event === 'state_update')).toHaveLength(1);
    await there.threads.delete(thread_id);
    await over;
    await leave();
  } finally {
    await other.close();
  }
});
