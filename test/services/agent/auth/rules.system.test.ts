import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGate, type Gate } from '../../../partners/clients/gate.ts';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import { files } from './agent.ts';

const agent = temporaryAgent(files);
let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent({ configPath: agent.configPath, token: 'front' });
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

type Headers = Record<string, string>;

/** Sends a request as a user, or without one. */
async function ask(user: string | undefined, method: string, path: string, body?: unknown, headers: Headers = {}) {
  const response = await fetch(`${serving.url}${path}`, {
    method,
    headers: { 'x-landfall-agent-token': 'front', ...(user === undefined ? {} : { 'x-user': user }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('event') || text === '' ? text : JSON.parse(text),
  };
}

const ids = (things: { thread_id: string }[]): string[] => things.map(({ thread_id }) => thread_id);
const run = { assistant_id: 'who', input: {} };
const untilOpen = ({ url }: Gate) => ({ input: { gate: url } });

describe('authentication', () => {
  test('returns the agent’s own rejection', async () => {
    const { status, headers, body } = await ask(undefined, 'POST', '/threads', {});
    expect({ status, body }).toEqual({ status: 401, body: { detail: 'Who are you?' } });
    expect(headers.get('www-authenticate')).toBe('Name');
  });

  test.each(['/ok', '/info'])('is skipped for %s', async (path) => {
    expect(await ask(undefined, 'GET', path)).toMatchObject({ status: 200 });
  });

  test('is required for protocols and unknown paths', async () => {
    for (const path of ['/mcp', '/a2a/who', '/threads/x/fly'])
      expect(await ask(undefined, 'POST', path, {})).toMatchObject({ status: 401 });
  });

  test('hides an error of the rules from the caller, and denies access', async () => {
    const answer = await ask('broken', 'POST', '/threads', {});
    expect(answer).toMatchObject({ status: 500, body: { detail: expect.not.stringContaining('reason') } });
    expect(serving.lines.join('\n')).toContain('an internal reason');
  });

  test('checks the gateway’s token first', async () => {
    const answer = await ask('ada', 'POST', '/threads', {}, { 'x-landfall-agent-token': 'other' });
    expect(answer.status).toBe(403);
  });

  test('may read the body, which stays available to the routes', async () => {
    expect(await ask('reader', 'POST', '/threads', { metadata: { a: 1 } })).toMatchObject({
      status: 200,
      body: { metadata: { a: 1, owner: 'reader' } },
    });
  });
});

describe('a graph', () => {
  test('receives the user, and never the gateway’s token', async () => {
    expect(await ask('ada', 'POST', '/runs/wait', run)).toMatchObject({
      body: { said: 'ADA calm no-token ada see+do' },
    });
  });

  test('ignores a user forged in the configuration', async () => {
    const configurable = { langgraph_auth_user: { display_name: 'MALLORY' }, langgraph_auth_permissions: ['all'] };
    const forged = { ...run, config: { configurable } };
    expect(await ask('ada', 'POST', '/runs/wait', forged)).toMatchObject({
      body: { said: 'ADA calm no-token ada see+do' },
    });
    const { body: batch } = await ask('ada', 'POST', '/runs/batch', [{ ...forged, on_completion: 'keep' }]);
    const [{ thread_id, run_id }] = batch;
    expect(await ask('ada', 'GET', `/threads/${thread_id}/runs/${run_id}/join`)).toMatchObject({
      body: { said: 'ADA calm no-token ada see+do' },
    });
  });
});

describe('threads', () => {
  test('belong to their creator, for every operation', async () => {
    const { body: thread } = await ask('ada', 'POST', '/threads', { metadata: { topic: 'x' } });
    expect(thread.metadata).toEqual({ topic: 'x', owner: 'ada' });
    const path = `/threads/${thread.thread_id}`;
    const { body: done } = await ask('ada', 'POST', `${path}/runs`, run);
    expect(await ask('ada', 'GET', `${path}/runs/${done.run_id}/join`)).toMatchObject({ status: 200 });
    const attempts: [method: string, path: string, body?: object][] = [
      ['GET', path],
      ['PATCH', path, { metadata: { owner: 'bob' } }],
      ['GET', `${path}/state`],
      ['POST', `${path}/state`, { values: { said: 'mine' } }],
      ['GET', `${path}/history`],
      ['POST', `${path}/history`, {}],
      ['POST', `${path}/copy`],
      ['GET', `${path}/runs`],
      ['POST', `${path}/runs`, run],
      ['POST', `${path}/runs/wait`, run],
      ['POST', `${path.replace('threads', 'thread')}/runs/stream`, run],
      ['POST', `${path}/runs/crons`, { ...run, schedule: '0 0 1 1 *' }],
      ['GET', `${path}/runs/${done.run_id}`],
      ['GET', `${path}/runs/${done.run_id}/join`],
      ['GET', `${path}/runs/${done.run_id}/stream`],
      ['GET', `/runs/${done.run_id}/stream`],
      ['GET', path.replace(/.$/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)],
      ['POST', `${path}/runs/${done.run_id}/cancel`],
      ['DELETE', `${path}/runs/${done.run_id}`],
      ['DELETE', path],
    ];
    for (const [method, at, body] of attempts) {
      expect([method, at, await ask('bob', method, at, body)]).toMatchObject([method, at, { status: 404 }]);
    }
    expect(await ask('ada', 'GET', path)).toMatchObject({
      body: { metadata: { owner: 'ada', topic: 'x' }, status: 'idle' },
    });
    expect(await ask('ada', 'DELETE', path)).toMatchObject({ status: 204 });
  });

  test('are copied with the owner that the rules set, whatever metadata the caller sends', async () => {
    const { body: thread } = await ask('ada', 'POST', '/threads', { metadata: { topic: 'x' } });
    const path = `/threads/${thread.thread_id}/copy`;
    const copy = await ask('ada', 'POST', path, { metadata: { owner: 'bob', mark: true } });
    expect(copy).toMatchObject({ status: 200, body: { metadata: { owner: 'ada', topic: 'x', mark: true } } });
    expect((await ask('ada', 'POST', path)).body.metadata).toEqual({ owner: 'ada', topic: 'x' });
  });

  test('of others look the same as missing ones', async () => {
    const { body: thread } = await ask('ada', 'POST', '/threads', {});
    const unknownId = '00000000-0000-4000-8000-000000000000';
    for (const rest of ['', '/state', `/runs/${unknownId}`]) {
      const others = await ask('bob', 'GET', `/threads/${thread.thread_id}${rest}`);
      const none = await ask('bob', 'GET', `/threads/${unknownId}${rest}`);
      expect(others.body.detail.replaceAll(thread.thread_id, unknownId)).toBe(none.body.detail);
    }
  });

  test('are searched and counted by owner', async () => {
    const made = [
      await ask('cleo', 'POST', '/threads', {}),
      await ask('cleo', 'POST', '/threads', { metadata: { topic: 'y' } }),
    ];
    await ask('dan', 'POST', '/threads', { metadata: { topic: 'y' } });
    const all = await ask('cleo', 'POST', '/threads/search', {});
    expect(ids(all.body).toSorted()).toEqual(ids(made.map(({ body }) => body)).toSorted());
    expect(ids((await ask('cleo', 'POST', '/threads/search', { metadata: { topic: 'y' } })).body)).toEqual([
      made[1]?.body.thread_id,
    ]);
    expect(await ask('cleo', 'POST', '/threads/count', {})).toMatchObject({ body: 2 });
    expect(await ask('cleo', 'POST', '/threads/count')).toMatchObject({ body: 2 });
    // A name that the database can't store matches no other name.
    const forged = { owner: 'cleo', 'own\0er': 'dan', 'own\ud800er': 'dan' };
    expect((await ask('cleo', 'POST', '/threads/search', { metadata: forged })).body).toEqual([]);
    const { body: odd } = await ask('cleo', 'POST', '/threads', { metadata: forged });
    expect(odd.metadata.owner).toBe('cleo');
    await ask('cleo', 'DELETE', `/threads/${odd.thread_id}`);
    const others = await ask('cleo', 'POST', '/threads/search', { metadata: { owner: 'dan' } });
    // The handler itself sets the owner.
    expect(ids(others.body)).toHaveLength(2);
  });

  test('conflict on the id of another user’s thread', async () => {
    const { body: thread } = await ask('ada', 'POST', '/threads', {});
    const again = { thread_id: thread.thread_id, if_exists: 'do_nothing' };
    expect(await ask('ada', 'POST', '/threads', again)).toMatchObject({ status: 200 });
    expect(await ask('bob', 'POST', '/threads', again)).toMatchObject({ status: 409 });
  });

  test('created by a run belong to its caller', async () => {
    const { body: kept } = await ask('ada', 'POST', '/runs', { ...run, on_completion: 'keep' });
    const made = '00000000-0000-4000-8000-00000000ada0';
    await ask('ada', 'POST', `/threads/${made}/runs/wait`, { ...run, if_not_exists: 'create' });
    for (const id of [kept.thread_id, made]) {
      expect(await ask('ada', 'GET', `/threads/${id}`)).toMatchObject({
        status: 200,
        body: { metadata: { owner: 'ada' } },
      });
      expect(await ask('bob', 'GET', `/threads/${id}`)).toMatchObject({ status: 404 });
    }
  });

  test('of stateless runs belong to their caller', async () => {
    await using gate = await startGate();
    const { body: temporary } = await ask('ada', 'POST', '/runs', {
      ...run,
      ...untilOpen(gate),
      on_completion: 'keep',
    });
    const path = `/threads/${temporary.thread_id}/runs/${temporary.run_id}`;
    expect(await ask('bob', 'POST', `${path}/cancel`)).toMatchObject({ status: 404 });
    gate.open();
    expect(await ask('ada', 'GET', `${path}/join`)).toMatchObject({ body: { said: expect.stringContaining('ADA') } });
  });

  test('have their runs cancelled only by their owner', async () => {
    const { body: thread } = await ask('ada', 'POST', '/threads', {});
    const path = `/threads/${thread.thread_id}/runs`;
    await using gate = await startGate();
    const { body: slow } = await ask('ada', 'POST', path, { ...run, ...untilOpen(gate) });
    const named = { thread_id: thread.thread_id, run_ids: [slow.run_id] };
    expect(await ask('bob', 'POST', '/runs/cancel', named)).toMatchObject({ status: 404 });
    expect(await ask('bob', 'POST', '/runs/cancel', { status: 'running' })).toMatchObject({ status: 422 });
    expect((await ask('ada', 'POST', '/runs/cancel', named)).status).toBeLessThan(300);
    await until(async () => {
      const { body } = await ask('ada', 'GET', `${path}/${slow.run_id}`);
      return body.status === 'interrupted' || undefined;
    });
  });

  test('are pruned only by their owner', async () => {
    const [mine, others] = [await ask('ada', 'POST', '/threads', {}), await ask('bob', 'POST', '/threads', {})];
    await ask('ada', 'POST', '/threads/prune', {
      thread_ids: [mine.body.thread_id, others.body.thread_id],
      strategy: 'delete',
    });
    expect(await ask('ada', 'GET', `/threads/${mine.body.thread_id}`)).toMatchObject({ status: 404 });
    expect(await ask('bob', 'GET', `/threads/${others.body.thread_id}`)).toMatchObject({ status: 200 });
  });
});

describe('assistants and crons', () => {
  test('assistants belong to their creator; rules may deny update and delete', async () => {
    const { body: assistant } = await ask('ada', 'POST', '/assistants', { graph_id: 'who', name: 'hers' });
    expect(assistant).toMatchObject({ name: 'hers', metadata: { owner: 'ada' } });
    const path = `/assistants/${assistant.assistant_id}`;
    expect(await ask('ada', 'GET', `${path}/schemas`)).toMatchObject({ status: 200 });
    expect(await ask('bob', 'GET', path)).toMatchObject({ status: 404 });
    expect(await ask('bob', 'POST', '/assistants/search', {})).toMatchObject({ body: [] });
    expect(await ask('ada', 'POST', '/assistants/count', {})).toMatchObject({ body: 1 });
    expect(await ask('ada', 'DELETE', path)).toMatchObject({ status: 403, body: { detail: 'Forbidden' } });
    expect(await ask('ada', 'PATCH', path, { name: 'x' })).toMatchObject({
      status: 409,
      body: { detail: 'ada may change nothing today' },
    });
  });

  test('deleting an assistant with its threads keeps other users’ threads', async () => {
    const { body: assistant } = await ask('remover', 'POST', '/assistants', { graph_id: 'who' });
    const { assistant_id } = assistant;
    const threads: string[] = [];
    for (const user of ['remover', 'bob']) {
      const { body: thread } = await ask(user, 'POST', '/threads', {});
      await ask(user, 'POST', `/threads/${thread.thread_id}/runs/wait`, { ...run, assistant_id });
      threads.push(`/threads/${thread.thread_id}`);
    }
    expect(await ask('remover', 'DELETE', `/assistants/${assistant_id}?delete_threads=true`)).toMatchObject({
      status: 204,
    });
    expect(await ask('remover', 'GET', String(threads[0]))).toMatchObject({ status: 404 });
    expect(await ask('bob', 'GET', String(threads[1]))).toMatchObject({ status: 200 });
  });

  test('crons belong to their creator', async () => {
    const { body: cron } = await ask('ada', 'POST', '/runs/crons', { ...run, schedule: '0 0 1 1 *' });
    expect(cron).toMatchObject({ metadata: { owner: 'ada' } });
    expect(await ask('bob', 'POST', '/runs/crons/search', {})).toMatchObject({ body: [] });
    expect(await ask('ada', 'POST', '/runs/crons/count', {})).toMatchObject({ body: 1 });
    expect(await ask('bob', 'PATCH', `/runs/crons/${cron.cron_id}`, { enabled: false })).toMatchObject({ status: 404 });
    expect(await ask('ada', 'PATCH', `/runs/crons/${cron.cron_id}`, { enabled: false })).toMatchObject({ status: 200 });
    expect(await ask('bob', 'DELETE', `/runs/crons/${cron.cron_id}`)).toMatchObject({ status: 404 });
  });
});

describe('the store', () => {
  test('is scoped to the caller by rules that change the namespace', async () => {
    expect(
      await ask('ada', 'PUT', '/store/items', { namespace: ['notes'], key: 'k', value: { of: 'ada' } }),
    ).toMatchObject({ status: 204 });
    expect(await ask('ada', 'GET', '/store/items?namespace=notes&key=k')).toMatchObject({
      body: { namespace: ['ada', 'notes'], value: { of: 'ada' } },
    });
    expect((await ask('bob', 'GET', '/store/items?namespace=notes&key=k')).body).toBeNull();
    expect((await ask('bob', 'GET', '/store/items?namespace=ada.notes&key=k')).body).toBeNull();
    // A name with a period is one label, not two.
    expect(await ask('ada.notes', 'GET', '/store/items?key=k')).toMatchObject({ status: 422 });
    expect(await ask('ada', 'POST', '/store/items/search', { namespace_prefix: [] })).toMatchObject({
      body: { items: [{ key: 'k' }] },
    });
    expect(await ask('bob', 'POST', '/store/items/search', {})).toMatchObject({ body: { items: [] } });
    expect(await ask('bob', 'DELETE', '/store/items', { namespace: ['notes'], key: 'k' })).toMatchObject({
      status: 204,
    });
    expect(await ask('ada', 'GET', '/store/items?namespace=notes&key=k')).toMatchObject({ body: { key: 'k' } });
    const { body: namespaces } = await ask('bob', 'POST', '/store/namespaces', {});
    expect(JSON.stringify(namespaces)).not.toContain('ada');
  });

  test('denies access, and filters item by item', async () => {
    const item = { namespace: ['shared'], key: 'k' };
    expect(await ask('banned', 'GET', '/store/items?namespace=shared&key=k')).toMatchObject({ status: 403 });
    expect(await ask('odd', 'PUT', '/store/items', { ...item, value: { owner: 'ada' } })).toMatchObject({
      status: 403,
    });
    expect(await ask('odd', 'PUT', '/store/items', { ...item, value: { owner: 'odd' } })).toMatchObject({
      status: 204,
    });
    expect(await ask('odd', 'GET', '/store/items?namespace=shared&key=k')).toMatchObject({ body: { key: 'k' } });
    await ask('ada', 'PUT', '/store/items', { namespace: ['shared'], key: 'k', value: { owner: 'ada' } });
    expect((await ask('odd', 'GET', '/store/items?namespace=ada.shared&key=k')).body).toBeNull();
    expect(await ask('odd', 'DELETE', '/store/items', { namespace: ['ada', 'shared'], key: 'k' })).toMatchObject({
      status: 404,
    });
    expect(await ask('odd', 'POST', '/store/items/search', {})).toMatchObject({
      body: { items: [{ namespace: ['shared'], value: { owner: 'odd' } }] },
    });
    expect(await ask('odd', 'POST', '/store/namespaces', {})).toMatchObject({ body: { namespaces: [['shared']] } });
  });
});

describe('bodies that can’t be checked', () => {
  test.each<[number, string, unknown]>([
    [400, 'no JSON', '{'],
    [422, 'a list', '[]'],
    [422, 'invalid metadata', '{"metadata": 7}'],
  ])('are rejected (%i): %s', async (status, _, text) => {
    const response = await fetch(`${serving.url}/threads`, {
      method: 'POST',
      headers: { 'x-landfall-agent-token': 'front', 'x-user': 'ada' },
      body: String(text),
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toHaveProperty('detail');
  });
});

describe('the protocols', () => {
  const call = (user: string, path: string, method: string, params: object) =>
    ask(
      user,
      'POST',
      path,
      { jsonrpc: '2.0', id: 1, method, params },
      { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    );

  const jsonOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));
  let mine: string;
  beforeAll(async () => {
    mine = (await ask('ada', 'POST', '/assistants', { graph_id: 'who', name: 'mine' })).body.assistant_id;
  });

  test('list what their caller may see, and pass the user to the graph', async () => {
    expect(jsonOf((await call('bob', '/mcp', 'tools/list', {})).body)).toContain('"tools":[]');
    const { body: tools } = await call('ada', '/mcp', 'tools/list', {});
    const name = /"name":"(mine[^"]*)"/.exec(jsonOf(tools))?.[1];
    const { body } = await call('ada', '/mcp', 'tools/call', { name, arguments: {} });
    expect(jsonOf(body)).toContain('ADA calm no-token');
  });

  test('do not continue another user’s task', async () => {
    const { body: thread } = await ask('bob', 'POST', '/threads', {});
    const parts = [{ kind: 'text', text: 'hi' }];
    const message = { role: 'user', parts, messageId: 'm', kind: 'message', contextId: thread.thread_id };
    const { body } = await call('ada', `/a2a/${mine}`, 'message/send', { message });
    expect(jsonOf(body)).toContain('error');
    expect((await ask('bob', 'GET', `/threads/${thread.thread_id}/runs`)).body).toEqual([]);
  });
});

describe('streams and commands of a thread', () => {
  /** Opens a user's stream of a thread; `received` is what it has sent so far. */
  async function openStream(user: string, threadId: string) {
    const stop = new AbortController();
    const response = await fetch(`${serving.url}/threads/${threadId}/stream/events`, {
      method: 'POST',
      headers: { 'x-landfall-agent-token': 'front', 'x-user': user },
      body: JSON.stringify({ channels: ['lifecycle', 'values'] }),
      signal: stop.signal,
    });
    let text = '';
    const over = (async () => {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
    })().catch(() => undefined);
    return { received: () => text, close: () => (stop.abort(), over) };
  }

  /** The same over a WebSocket. */
  async function openSocket(user: string, threadId: string) {
    const headers = { 'x-landfall-agent-token': 'front', 'x-user': user };
    const address = `${serving.url.replace('http', 'ws')}/threads/${threadId}/stream/events`;
    const socket = new WebSocket(address, { headers });
    let text = '';
    socket.on('message', (data: Buffer) => (text += data.toString()));
    await once(socket, 'open');
    const params = { channels: ['lifecycle', 'values'] };
    socket.send(JSON.stringify({ id: 1, method: 'subscription.subscribe', params }));
    const close = async () => {
      socket.close();
      await once(socket, 'close');
    };
    return { received: () => text, close };
  }

  test.for([
    { over: 'server-sent events', open: openStream },
    { over: 'a WebSocket', open: openSocket },
  ])('are the thread’s owner’s alone, over $over opened before there is a thread', async ({ open }) => {
    const threadId = randomUUID();
    const [his, hers] = [await open('bob', threadId), await open('ada', threadId)];
    const start = (assistant_id: string) => ({ id: 1, method: 'run.start', params: { assistant_id, input: {} } });
    const commands = `/threads/${threadId}/commands`;
    expect((await ask('ada', 'POST', commands, start('who'))).body).toMatchObject({ type: 'success' });
    await expect.poll(hers.received).toContain('"event":"completed"');
    expect(hers.received()).toContain('ADA calm no-token ada see+do');
    for (const [method, params] of [
      ['run.start', start('who').params],
      ['state.get', {}],
      ['agent.getTree', {}],
    ] as const) {
      const { body } = await ask('bob', 'POST', commands, { id: 2, method, params });
      expect(body).toMatchObject({ type: 'error', message: expect.stringContaining(threadId) });
    }
    const later = await open('bob', threadId);
    expect((await ask('ada', 'POST', commands, start('who'))).body).toMatchObject({ type: 'success' });
    await expect.poll(() => hers.received().split('"event":"completed"').length).toBe(3);
    for (const { received } of [his, later]) expect(received()).not.toContain('"type":"event"');
    await Promise.all([his, hers, later].map(({ close }) => close()));
  });
});
