import { Client } from '@langchain/langgraph-sdk';
import { startGate } from '../../partners/clients/gate.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveAgent } from './serving.ts';
import type { Serving } from './serving.ts';

let serving: Serving;
let client: Client;
beforeAll(async () => {
  serving = await serveAgent();
  client = new Client({ apiUrl: serving.url, apiKey: null });
});
afterAll(() => serving.close());

/** All items of a client's stream. */
async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

describe("the public service's own client", () => {
  test('creates, searches, counts and deletes assistants', async () => {
    const made = await client.assistants.create({
      graphId: 'echo',
      name: 'Client',
      context: { greeting: 'hey' },
      metadata: { by: 'client' },
    });
    expect(await client.assistants.get(made.assistant_id)).toEqual(made);
    expect(await client.assistants.search({ metadata: { by: 'client' } })).toEqual([made]);
    expect(await client.assistants.count({ graphId: 'echo', metadata: { by: 'client' } })).toBe(1);
    expect(await client.runs.wait(null, made.assistant_id, { input: { input: 'you' } })).toMatchObject({
      output: 'hey you',
    });
    await client.assistants.delete(made.assistant_id);
    await expect(client.assistants.get(made.assistant_id)).rejects.toThrow('404');
  });

  test("reads states whose run has metadata in the form of the engine's library", async () => {
    const { thread_id } = await client.threads.create();
    const metadata = { odd: { lc: 1, type: 'constructor', id: ['a', 'b'], kwargs: {} } };
    for (const input of ['a', 'b']) await client.runs.wait(thread_id, 'echo', { input: { input }, metadata });
    expect(await client.threads.getState(thread_id)).toMatchObject({ values: { output: 'hello b' }, metadata });
    expect(await client.threads.getHistory(thread_id, { metadata, limit: 100 })).toHaveLength(8);
  });

  test('creates, reads, updates, searches and deletes threads', async () => {
    const thread = await client.threads.create({ metadata: { by: 'client' }, graphId: 'echo' });
    await client.runs.wait(thread.thread_id, 'echo', { input: { input: 'a' } });
    expect(await client.threads.get(thread.thread_id)).toMatchObject({ status: 'idle', values: { output: 'hello a' } });
    expect(await client.threads.getState(thread.thread_id)).toMatchObject({ values: { output: 'hello a' }, next: [] });
    expect(await client.threads.update(thread.thread_id, { metadata: { more: true } })).toMatchObject({
      metadata: { by: 'client', more: true },
    });
    expect(await client.threads.search({ metadata: { more: true }, status: 'idle' })).toHaveLength(1);
    await client.threads.delete(thread.thread_id);
    await expect(client.threads.get(thread.thread_id)).rejects.toThrow('404');
  });

  test('streams runs and receives the run id', async () => {
    const { thread_id } = await client.threads.create();
    let known: unknown;
    const events = await all(
      client.runs.stream(thread_id, 'echo', {
        input: { input: 'b' },
        streamMode: ['updates', 'values'],
        onRunCreated: (run) => (known = run),
      }),
    );
    expect(events.map(({ event }) => event)).toEqual(['metadata', 'values', 'updates', 'values', 'updates', 'values']);
    expect(known).toEqual({ thread_id, run_id: Object(events[0]?.data)['run_id'] });
    const messages = await all(
      client.runs.stream(null, 'chat', {
        input: { messages: [{ role: 'user', content: 'hi' }] },
        streamMode: 'messages',
      }),
    );
    expect(messages.at(-1)).toMatchObject({
      event: 'messages/complete',
      data: [{ type: 'ai', content: 'Good day to you' }],
    });
  });

  test('throws the error of a failed run', async () => {
    await expect(client.runs.wait(null, 'echo', { input: { input: 'x', fail: 'no ink' } })).rejects.toThrow(
      'RequestedFailure: no ink',
    );
  });

  test('creates, lists, joins, cancels and deletes runs', async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, 'echo', { input: { input: 'c', sleep_ms: 100 } });
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ output: 'hello c' });
    expect(await client.runs.get(thread_id, run.run_id)).toMatchObject({ status: 'success' });
    const long = await client.runs.create(thread_id, 'echo', { input: { input: 'd', sleep_ms: 60_000 } });
    await client.runs.cancel(thread_id, long.run_id, true);
    expect((await client.runs.list(thread_id)).map(({ status }) => status)).toEqual(['interrupted', 'success']);
    await client.runs.delete(thread_id, long.run_id);
    expect(await client.runs.list(thread_id)).toHaveLength(1);
    expect(await client.runs.createBatch([{ assistantId: 'echo', input: { input: 'e' } }])).toMatchObject([
      { status: 'pending' },
    ]);
  });

  test('joins the stream of a running run', async () => {
    const { thread_id } = await client.threads.create();
    await using gate = await startGate();
    const run = await client.runs.create(thread_id, 'gated', {
      input: { input: 'f', gate: gate.url },
      streamMode: ['updates'],
    });
    const events = [];
    for await (const event of client.runs.joinStream(thread_id, run.run_id)) {
      events.push(event);
      gate.open();
    }
    expect(events[0]).toMatchObject({ event: 'metadata', data: { run_id: run.run_id } });
    expect(events.at(-1)).toMatchObject({ event: 'updates', data: { answer: { output: 'hello f' } } });
  });

  test('resumes an interrupted thread', async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'interrupts', { input: { request: 'dance' } });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: 'interrupted' });
    expect(await client.runs.wait(thread_id, 'interrupts', { command: { resume: 'yes' } })).toEqual({
      request: 'dance',
      answer: 'dance: yes',
    });
    const gone = await client.runs.wait(thread_id, 'interrupts', {
      command: { goto: 'ask', update: { request: 'rest' } },
    });
    expect(gone).toMatchObject({ request: 'rest', __interrupt__: [{ value: { question: 'May I rest?' } }] });
  });
});
