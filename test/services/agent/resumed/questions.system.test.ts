import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asking, eventsOf } from '../runs/two-servers.ts';
import type { Asking } from '../runs/two-servers.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { askingAgent } from './agent.ts';

const agent = askingAgent();
let serving: Serving;
let server: Asking;
beforeAll(async () => {
  serving = await serveAgent({ configPath: agent.configPath });
  server = asking(serving);
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

const ran = (thread: string, assistant_id: string, body: object) =>
  server.json(server.post(`/threads/${thread}/runs/wait`, { assistant_id, ...body }));
const answered = (thread: string, graph: string, resume: unknown) => ran(thread, graph, { command: { resume } });
const valuesOf = (interrupts: unknown) =>
  Object(interrupts)
    .map((one: unknown) => Object(one).value)
    .toSorted();

/** Starts a thread whose graph interrupts with a question. */
async function requested(graph: string) {
  const thread = await server.thread();
  const answer = await ran(thread, graph, { input: {} });
  return { thread, pending: valuesOf(answer['__interrupt__']) };
}

/** What a thread waits for, by its row and by its state. */
async function waitsFor(thread: string) {
  const row = await server.json(server.get(`/threads/${thread}`));
  const state = await server.json(server.get(`/threads/${thread}/state`));
  return {
    status: row['status'],
    row: valuesOf(Object.values(Object(row['interrupts'])).flat()),
    state: valuesOf(state['interrupts']),
    next: state['next'],
  };
}

describe('questions', () => {
  test('of a node with two questions interrupt the thread each time', async () => {
    const { thread, pending } = await requested('twice');
    expect(pending).toEqual(['first?']);
    expect(valuesOf((await answered(thread, 'twice', 'a'))['__interrupt__'])).toEqual(['second?']);
    const open = ['second?'];
    expect(await waitsFor(thread)).toEqual({ status: 'interrupted', row: open, state: open, next: ['ask'] });
    expect((await answered(thread, 'twice', 'b'))['path']).toEqual(['both ["a","b"]']);
    expect(await waitsFor(thread)).toEqual({ status: 'idle', row: [], state: [], next: [] });
  });

  test('of parallel nodes are all returned until answered', async () => {
    const { thread, pending } = await requested('both');
    expect(pending).toEqual(['left?', 'right?']);
    const { interrupts } = await server.json(server.get(`/threads/${thread}/state`));
    const left = Object(interrupts).find((one: unknown) => Object(one).value === 'left?');
    expect(valuesOf((await answered(thread, 'both', { [left.id]: 'l' }))['__interrupt__'])).toEqual(['right?']);
    const open = ['right?'];
    expect(await waitsFor(thread)).toEqual({ status: 'interrupted', row: open, state: open, next: ['right'] });
    expect((await answered(thread, 'both', 'r'))['path']).toEqual(['left? "l"', 'right? "r"']);
  });

  test('remain open if the answer made the run fail', async () => {
    const { thread } = await requested('fails');
    expect(await answered(thread, 'fails', 'bad')).toMatchObject({ __error__: { message: 'broke' } });
    const open = ['first?'];
    expect(await waitsFor(thread)).toEqual({ status: 'error', row: open, state: open, next: ['ask'] });
  });

  test('are returned by MCP tools too', async () => {
    const params = { name: 'both', arguments: {} };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const request = { method: 'POST', body: JSON.stringify(call), headers };
    const reported = await (await serving.fetch(new Request('http://agent.test/mcp/', request))).text();
    expect(reported).toContain('left?');
    expect(reported).toContain('right?');
  });
});

describe('an answer', () => {
  test.each([[false], [0], [''], [null]])('may be %j', async (answer) => {
    const { thread } = await requested('twice');
    expect(valuesOf((await answered(thread, 'twice', answer))['__interrupt__'])).toEqual(['second?']);
    expect((await answered(thread, 'twice', answer))['path']).toEqual([`both ${JSON.stringify([answer, answer])}`]);
  });

  test('is used for one question, whatever is answered next', async () => {
    const { thread } = await requested('thrice');
    await answered(thread, 'thrice', 'yes');
    expect(valuesOf((await answered(thread, 'thrice', false))['__interrupt__'])).toEqual(['third?']);
    expect(valuesOf((await ran(thread, 'thrice', { input: null }))['__interrupt__'])).toEqual(['third?']);
    expect((await answered(thread, 'thrice', 'at last'))['path']).toEqual(['all ["yes",false,"at last"]']);
  });

  test('is not null if the command only updates the state', async () => {
    const { thread } = await requested('twice');
    const changed = await ran(thread, 'twice', { command: { resume: null, update: { path: ['updated'] } } });
    expect(changed).toMatchObject({ path: ['updated'] });
    expect(valuesOf(changed['__interrupt__'])).toEqual(['first?']);
  });
});

describe('an A2A task', () => {
  const call = async (method: string, params: object) =>
    Object((await server.json(server.post('/a2a/twice', { jsonrpc: '2.0', id: 1, method, params })))['result']);
  const say = (part: object, taskId?: string) =>
    call('message/send', {
      message: {
        role: 'user',
        kind: 'message',
        messageId: crypto.randomUUID(),
        parts: [part],
        ...(taskId ? { taskId } : {}),
      },
    });
  const text = (answer: string) => ({ kind: 'text', text: answer });

  test('waits for the second answer as for the first', async () => {
    const { id } = await say({ kind: 'data', data: {} });
    const second = await say(text('a'), id);
    expect(second.status).toMatchObject({ state: 'input-required', message: { parts: [{ text: 'second?' }] } });
    const { status } = await call('tasks/get', { id });
    expect(status).toMatchObject({ state: 'input-required', message: { parts: [{ text: 'second?' }] } });
    expect((await say(text('b'), id)).status).toMatchObject({ state: 'completed' });
    expect((await call('tasks/get', { id })).status).toMatchObject({ state: 'completed' });
  });
});

describe('joining a run that has ended', () => {
  test('returns its metadata', async () => {
    const place = await server.run(await server.thread(), { assistant_id: 'plain', input: {} });
    await (await server.get(`${place}/join`)).text();
    const run_id = place.split('/').at(-1);
    expect(await eventsOf(server.get(`${place}/stream`))).toEqual([
      { id: '0', event: 'metadata', data: { run_id, attempt: 1 } },
    ]);
  });

  test('returns its error', async () => {
    const { thread } = await requested('fails');
    const place = await server.run(thread, { assistant_id: 'fails', command: { resume: 'bad' } });
    await server.get(`${place}/join`).then((answer) => answer.text());
    const [first, last] = await eventsOf(server.get(`${place}/stream`));
    const error = { id: '1', event: 'error', data: { error: 'Error', message: 'broke' } };
    expect([first?.event, last]).toEqual(['metadata', error]);
  });

  test('returns the kept events of a stateless run, by its location header', async () => {
    const started = await server.post('/runs/stream', { assistant_id: 'plain', input: {}, stream_resumable: true });
    const place = started.headers.get('location') ?? '';
    const all = await eventsOf(Promise.resolve(started));
    expect(await eventsOf(server.get(place))).toEqual(all);
    const [, second, ...rest] = all;
    expect(await eventsOf(server.get(place, { 'last-event-id': second?.id ?? '' }))).toEqual(rest);
    expect((await server.get(place.replace(/[^/]+\/stream/, `${crypto.randomUUID()}/stream`))).status).toBe(404);
  });
});
