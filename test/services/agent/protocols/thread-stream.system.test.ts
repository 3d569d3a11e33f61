import { Client } from '@langchain/langgraph-sdk';
import { randomUUID } from 'node:crypto';
import { Client as Database } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGate, type Gate } from '../../../partners/clients/gate.ts';
import { serveAgent, type Serving } from '../serving.ts';
import { sharedDatabase, type Servers } from '../runs/two-servers.ts';

type Event = Record<string, unknown> & {
  seq: number;
  method: string;
  params: { namespace: string[]; data: Record<string, unknown> };
};

const allChannels = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom'];

/** Follows the events of a thread by plain requests, until `isOver`. */
async function follow(
  url: string,
  threadId: string,
  isOver: (events: readonly Event[]) => boolean,
  filter: object = { channels: allChannels },
): Promise<Event[]> {
  const stop = new AbortController();
  const response = await fetch(`${url}/threads/${threadId}/stream/events`, {
    method: 'POST',
    body: JSON.stringify(filter),
    signal: stop.signal,
  });
  expect(response.status).toBe(200);
  const events: Event[] = [];
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) events.push(JSON.parse(data));
    }
    if (isOver(events)) break;
  }
  stop.abort();
  return events;
}

const isRoot = ({ params }: Event): boolean => params.namespace.length === 0;
const statuses = (events: readonly Event[]): unknown[] =>
  events.filter((each) => each.method === 'lifecycle' && isRoot(each)).map(({ params }) => params.data['event']);
const hasEnded =
  (runs = 1) =>
  (events: readonly Event[]): boolean =>
    statuses(events).filter((status) => status !== 'running').length >= runs;

async function command(
  url: string,
  threadId: string,
  method: string,
  params: object = {},
): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}/threads/${threadId}/commands`, {
    method: 'POST',
    body: JSON.stringify({ id: 7, method, params }),
  });
  expect(response.status).toBe(200);
  return Object(await response.json());
}

/** A run of the chat that waits in the middle of its answer until the gate is open. */
const chatUntil = (gate: Gate): object => ({
  assistant_id: 'chat',
  input: { messages: [{ type: 'human', content: `hi until ${gate.url}` }] },
});

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

describe.each(['sse', 'websocket'] as const)('client.threads.stream of the official client by %s', (transport) => {
  const streamOf = (assistantId: string) =>
    new Client({ apiUrl: serving.url, apiKey: null }).threads.stream({ assistantId, transport });

  test('streams the messages and the state of a run', async () => {
    await using thread = disposable(streamOf('chat'));
    // The client has nothing of a run that is over by the time it reads: this one waits until it has the message.
    await using gate = await startGate();
    const content = `Hello until ${gate.url}`;
    const { messages, output } = thread;
    const firstText = async (): Promise<string | undefined> => {
      for await (const message of messages) {
        gate.open();
        return message.text;
      }
      return undefined;
    };
    const said = firstText();
    const { run_id } = await thread.submitRun({ input: { messages: [{ type: 'human', content }] } });
    expect(run_id).toEqual(expect.any(String));
    expect(await said).toBe('Good day to you');
    expect(await output).toMatchObject({ messages: [{ content }, { text: 'Good day to you' }] });
  });

  test('reports an interrupt, and goes on with its response', async () => {
    await using thread = disposable(streamOf('interrupts'));
    await thread.submitRun({ input: { request: 'open the door' } });
    await expect.poll(() => thread.interrupts.length).toBe(1);
    await expect.poll(() => thread.interrupted).toBe(true);
    const [waiting] = thread.interrupts;
    expect(waiting?.payload).toEqual({ question: 'May I open the door?' });
    await thread.respondInput({ namespace: [], interrupt_id: waiting?.interruptId ?? '', response: 'yes' });
    await expect
      .poll(async () => (await thread.state.get({ namespace: [] })).values)
      .toEqual({ request: 'open the door', answer: 'open the door: yes' });
  });
});

/** A stream of the client, closed at the end of its block. */
function disposable<T extends { close(): Promise<void> }>(stream: T): T & AsyncDisposable {
  return Object.assign(stream, { [Symbol.asyncDispose]: () => stream.close() });
}

describe('the thread-stream protocol', () => {
  test('delivers each event of a run and its subgraphs once, in order, to latecomers too', async () => {
    const threadId = randomUUID();
    const live = follow(serving.url, threadId, hasEnded());
    const started = await command(serving.url, threadId, 'run.start', { assistant_id: 'outer', input: { word: 'hi' } });
    expect(started).toMatchObject({ type: 'success', id: 7, result: { run_id: expect.any(String) } });
    const events = await live;
    expect(statuses(events)).toEqual(['running', 'completed']);
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    expect(events.map(({ event_id }) => event_id)).toEqual(numbers.map(String));
    expect(new Set(events.map(({ method }) => method))).toEqual(
      new Set(['lifecycle', 'checkpoints', 'values', 'updates', 'tasks', 'custom']),
    );
    const inside = events.filter((each) => !isRoot(each));
    expect(inside.map(({ method }) => method)).toEqual(expect.arrayContaining(['lifecycle', 'values', 'custom']));
    expect(await follow(serving.url, threadId, hasEnded())).toEqual(events);
    const from = { channels: ['values'], namespaces: [[]], depth: 0, since: numbers[2] };
    const last = events.findLast((each) => each.method === 'values' && isRoot(each));
    const replayed = await follow(serving.url, threadId, (some) => some.at(-1)?.seq === last?.seq, from);
    expect(replayed).toEqual(
      events.filter((each) => each.method === 'values' && isRoot(each) && each.seq > (numbers[2] ?? 0)),
    );
    const tree = await command(serving.url, threadId, 'agent.getTree');
    expect(tree).toMatchObject({
      result: {
        tree: { namespace: [], status: 'completed', graph_name: 'outer', children: [{ status: 'completed' }] },
      },
    });
  });

  test('goes on with the next run on the same stream', async () => {
    const threadId = randomUUID();
    const live = follow(serving.url, threadId, hasEnded(2), { channels: ['lifecycle'], namespaces: [[]], depth: 0 });
    for (const word of ['a', 'b'])
      await command(serving.url, threadId, 'run.start', { assistant_id: 'outer', input: { word } });
    expect(statuses(await live)).toEqual(['running', 'completed', 'running', 'completed']);
  });

  test('delivers a run to its end although a later one was cancelled before its turn', async () => {
    const threadId = randomUUID();
    const start = async (params: object): Promise<string> => {
      const { result } = await command(serving.url, threadId, 'run.start', params);
      return String(Object(result).run_id);
    };
    await using gate = await startGate();
    const first = await start(chatUntil(gate));
    const live = follow(serving.url, threadId, hasEnded(2));
    const second = await start({ assistant_id: 'echo', input: { input: 'b' } });
    await fetch(`${serving.url}/threads/${threadId}/runs/${second}/cancel?wait=true`, { method: 'POST' });
    gate.open();
    await fetch(`${serving.url}/threads/${threadId}/runs/${first}/join`);
    const events = await live;
    expect(statuses(events)).toEqual(['running', 'completed', 'interrupted']);
    const values = events.filter((each) => each.method === 'values' && isRoot(each));
    expect(values.at(-1)?.params.data).toMatchObject({ messages: [{}, { content: [{ text: 'Good day to you' }] }] });
    expect(await follow(serving.url, threadId, hasEnded(2))).toEqual(events);
  });

  test('ends the stream of a deleted thread', async () => {
    const threadId = randomUUID();
    await command(serving.url, threadId, 'run.start', { assistant_id: 'outer', input: { word: 'hi' } });
    const all = follow(serving.url, threadId, () => false);
    await follow(serving.url, threadId, hasEnded());
    await fetch(`${serving.url}/threads/${threadId}`, { method: 'DELETE' });
    expect(statuses(await all)).toEqual(['running', 'completed']);
  });

  test('reports a run that fails, and one that is cancelled', async () => {
    const threadId = randomUUID();
    const live = follow(serving.url, threadId, hasEnded(2));
    await command(serving.url, threadId, 'run.start', { assistant_id: 'echo', input: { input: 'a', fail: 'no ink' } });
    await follow(serving.url, threadId, hasEnded());
    const input = { input: 'b', sleep_ms: 60_000 };
    const { result } = await command(serving.url, threadId, 'run.start', { assistant_id: 'echo', input });
    await follow(serving.url, threadId, (events) => statuses(events).length === 3);
    await fetch(`${serving.url}/threads/${threadId}/runs/${Object(result).run_id}/cancel`, { method: 'POST' });
    const events = await live;
    expect(statuses(events)).toEqual(['running', 'failed', 'running', 'interrupted']);
    expect(JSON.stringify(events)).toContain('no ink');
  });

  test.for([
    ['run.start', {}, 'invalid_argument', 'params.assistant_id'],
    [
      'run.start',
      { assistant_id: 'nobody' },
      'invalid_argument',
      'Assistant not found. No assistant found for "nobody"',
    ],
    ['input.respond', { interrupt_id: 'x', response: 1 }, 'no_such_run', 'run.start'],
    ['agent.getTree', {}, 'invalid_argument', 'Thread not found. '],
    ['subscription.subscribe', { channels: ['values'] }, 'not_supported', 'stream/events'],
    ['run.dance', {}, 'unknown_command', 'run.dance'],
  ] as const)('refuses %s with %o as %s', async ([method, params, error, words]) => {
    const refused = await command(serving.url, randomUUID(), method, params);
    expect(refused).toEqual({ type: 'error', id: 7, error, message: expect.stringContaining(words) });
  });

  test('refuses a response to another interrupt, and one that nobody waits for', async () => {
    const threadId = randomUUID();
    await command(serving.url, threadId, 'run.start', { assistant_id: 'interrupts', input: { request: 'go' } });
    await follow(serving.url, threadId, hasEnded());
    const refused = await command(serving.url, threadId, 'input.respond', { interrupt_id: 'other', response: 1 });
    expect(refused).toMatchObject({ error: 'no_such_interrupt', message: expect.stringContaining('It waits for') });
    await command(serving.url, threadId, 'run.start', { assistant_id: 'interrupts', input: 'yes' });
    expect(statuses(await follow(serving.url, threadId, hasEnded(2)))).toEqual([
      'running',
      'interrupted',
      'running',
      'completed',
    ]);
    expect(await command(serving.url, threadId, 'state.get', { keys: ['answer'] })).toMatchObject({
      result: { values: { answer: 'go: yes' }, checkpoint: { id: expect.any(String) } },
    });
    const late = await command(serving.url, threadId, 'input.respond', { interrupt_id: 'x', response: 1 });
    expect(late).toMatchObject({ error: 'invalid_argument' });
  });
});

/** Servers on a database of their own, closed at the end of their block. */
async function ownDatabase(): Promise<Servers & AsyncDisposable> {
  const own = await sharedDatabase();
  return Object.assign(own, { [Symbol.asyncDispose]: () => own.close() });
}

describe('the thread-stream protocol of several processes', () => {
  let servers: Servers;
  beforeAll(async () => {
    servers = await sharedDatabase();
  });
  afterAll(() => servers.close());

  test('streams a run of another process, and again after that process has ended', async () => {
    const [first, second] = [await servers.start(), await servers.start()];
    const threadId = randomUUID();
    const there = follow(second.url, threadId, hasEnded());
    await command(first.url, threadId, 'run.start', { assistant_id: 'outer', input: { word: 'hi' } });
    const here = await follow(first.url, threadId, hasEnded());
    expect(await there).toEqual(here);
    await first.close();
    expect(await follow(second.url, threadId, hasEnded())).toEqual(here);
  });

  test('keeps the events of an attempt although the next one is lost before it begins', async () => {
    // Servers of the other tests would take the run over.
    await using own = await ownDatabase();
    const first = await own.start();
    const threadId = randomUUID();
    await using gate = await startGate();
    await command(first.url, threadId, 'run.start', chatUntil(gate));
    const before = await follow(first.url, threadId, (events) => events.length > 2);
    await first.close();
    gate.open();
    const database = new Database({ connectionString: own.databaseUrl });
    await database.connect();
    // As a process leaves it that has taken the run over, and is killed.
    await database.query("update runs set status = 'pending', attempt = attempt + 1 where thread_id = $1", [threadId]);
    await database.end();
    const second = await own.start();
    const events = await follow(second.url, threadId, hasEnded());
    expect(statuses(events)).toEqual(['running', 'running', 'completed']);
    expect(events.slice(0, before.length)).toEqual(before);
    // Read again: the first time, they could be read before the run was taken over.
    expect(await follow(second.url, threadId, hasEnded())).toEqual(events);
  });

  test('goes on with the next attempt when the process of a run leaves', async () => {
    const [first, second] = [await servers.start(), await servers.start()];
    const threadId = randomUUID();
    const there = follow(second.url, threadId, hasEnded());
    await using gate = await startGate();
    await command(first.url, threadId, 'run.start', chatUntil(gate));
    await follow(first.url, threadId, (events) => events.length > 1);
    await first.close();
    gate.open();
    const events = await there;
    expect(statuses(events)).toEqual(['running', 'running', 'completed']);
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    expect(await follow(second.url, threadId, hasEnded())).toEqual(events);
  });
});
