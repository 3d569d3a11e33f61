import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveAgent, type Serving } from '../serving.ts';

type Message = Record<string, unknown> & { type: string; id?: number | null; seq?: number; method?: string };

/** A WebSocket of a thread: its messages in order, and the response to each command. */
async function connect(url: string, threadId: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/threads/${threadId}/stream/events`, { headers });
  const messages: Message[] = [];
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  let next = 1;
  const events = (): Message[] => messages.filter(({ type }) => type === 'event');
  return {
    messages,
    events,
    closed,
    send: (text: string) => socket.send(text),
    close: () => socket.close(),
    async command(method: string, params: object = {}): Promise<Message> {
      const id = next++;
      socket.send(JSON.stringify({ id, method, params }));
      return expect
        .poll(() => messages.find((each) => each.id === id))
        .toBeDefined()
        .then(() => {
          const found = messages.find((each) => each.id === id);
          if (!found) throw new Error('No response.');
          return found;
        });
    },
  };
}

const isRoot = (status: string) => (message: Message) => {
  const { namespace, data } = Object(message['params']);
  return message.method === 'lifecycle' && namespace?.length === 0 && data.event === status;
};

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

describe('the WebSocket of a thread', () => {
  test('sends a later subscription what is kept, and no event of another one twice', async () => {
    const threadId = randomUUID();
    const thread = await connect(serving.url, threadId);
    const first = await thread.command('subscription.subscribe', { channels: ['lifecycle'] });
    // How far the thread is would tell a caller without access that it exists.
    expect(first).toMatchObject({
      type: 'success',
      result: { subscription_id: expect.any(String), replayed_events: 0 },
    });
    expect(first['meta']).toEqual({ thread_id: threadId });
    const started = await thread.command('run.start', { assistant_id: 'outer', input: { word: 'hi' } });
    expect(started).toMatchObject({ type: 'success', result: { run_id: expect.any(String) } });
    expect(started['meta']).toMatchObject({ applied_through_seq: expect.any(Number) });
    await expect.poll(() => thread.events().some(isRoot('completed'))).toBe(true);
    expect(new Set(thread.events().map(({ method }) => method))).toEqual(new Set(['lifecycle']));
    const heard = thread.messages.length;

    const second = await thread.command('subscription.subscribe', { channels: ['values'] });
    expect(thread.messages.slice(heard)[0]).toBe(second);
    await thread.command('run.start', { assistant_id: 'outer', input: { word: 'ho' } });
    await expect.poll(() => thread.events().filter(isRoot('completed')).length).toBe(2);
    const seqs = thread.events().map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)]);
    const values = thread.events().filter(({ method }) => method === 'values');
    expect(values.map(({ seq }) => seq)).toEqual(values.map(({ seq }) => Number(seq)).toSorted((a, b) => a - b));
    expect(JSON.stringify(values)).toMatch(/HI.*HO/);
    // The first number of each run is a multiple of this.
    const runOf = ({ seq }: (typeof values)[number]): number => Math.floor(Number(seq) / 2 ** 24);
    const ofFirstRun = values.filter((value, _, [first = value]) => runOf(value) === runOf(first));
    expect(Object(second['result']).replayed_events).toBe(ofFirstRun.length);

    const end = { subscription_id: Object(second['result']).subscription_id };
    expect(await thread.command('subscription.unsubscribe', end)).toMatchObject({ type: 'success' });
    expect(await thread.command('subscription.unsubscribe', end)).toMatchObject({ error: 'no_such_subscription' });
    thread.close();
    await thread.closed;
  });

  test('lists the states of a thread, and starts a run from one of them', async () => {
    const thread = await connect(serving.url, randomUUID());
    expect(await thread.command('state.fork', { checkpoint_id: 'x' })).toMatchObject({ error: 'no_such_run' });
    await thread.command('subscription.subscribe', { channels: ['lifecycle'] });
    await thread.command('run.start', { assistant_id: 'echo', input: { input: 'Ada' } });
    await expect.poll(() => thread.events().some(isRoot('completed'))).toBe(true);
    const { result } = await thread.command('state.listCheckpoints', { limit: 2 });
    const { checkpoints } = Object(result);
    expect(checkpoints).toMatchObject([{ id: expect.any(String), step: 2 }, { step: 1 }]);
    const before = await thread.command('state.listCheckpoints', { before: checkpoints[1].id });
    expect(before).toMatchObject({ result: { checkpoints: [{ step: 0 }] } });
    const forked = await thread.command('state.fork', { checkpoint_id: checkpoints[1].id });
    expect(forked).toMatchObject({ type: 'success', result: { run_id: expect.any(String) } });
    await expect.poll(() => thread.events().filter(isRoot('completed')).length).toBe(2);
    const missing = await thread.command('state.fork', { checkpoint_id: randomUUID() });
    expect(missing).toMatchObject({ error: 'no_such_checkpoint' });
    thread.close();
    await thread.closed;
  });

  test('answers what is no command with an error', async () => {
    const thread = await connect(serving.url, randomUUID());
    for (const text of ['nonsense', '{"id":-1,"method":"run.start"}']) thread.send(text);
    await expect.poll(() => thread.messages.length).toBe(2);
    const error = { type: 'error', id: null, error: 'invalid_argument', message: expect.stringContaining('run.start') };
    expect(thread.messages).toEqual([error, error]);
    expect(await thread.command('subscription.subscribe', { channels: ['news'] })).toMatchObject({
      error: 'invalid_argument',
      message: expect.stringContaining('params.channels'),
    });
    thread.close();
    await thread.closed;
  });

  test('ends when its thread is deleted', async () => {
    const threadId = randomUUID();
    const thread = await connect(serving.url, threadId);
    await thread.command('subscription.subscribe', { channels: ['lifecycle'] });
    await thread.command('run.start', { assistant_id: 'outer', input: { word: 'hi' } });
    await expect.poll(() => thread.events().some(isRoot('completed'))).toBe(true);
    await fetch(`${serving.url}/threads/${threadId}`, { method: 'DELETE' });
    expect(await thread.closed).toBe(1001);
  });

  test('is refused for an invalid id, and asked for where the request is a plain one', async () => {
    await expect(connect(serving.url, 'x')).rejects.toThrow('422');
    const plain = await fetch(`${serving.url}/threads/${randomUUID()}/stream/events`);
    expect([plain.status, plain.headers.get('upgrade'), await plain.json()]).toEqual([
      426,
      'websocket',
      { detail: expect.stringContaining('POST') },
    ]);
  });

  test('leaves requests for other protocols to the operations', async () => {
    const status = await new Promise((resolve, reject) => {
      const headers = { connection: 'upgrade', upgrade: 'h2c' };
      request(`${serving.url}/ok`, { headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });
});
