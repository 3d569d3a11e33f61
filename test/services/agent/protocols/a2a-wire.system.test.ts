import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { files } from '../auth/agent.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import { cardPath, factory, message, send, text } from './a2a-speaking.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

describe('the agent card', () => {
  test('names the assistant, its URL and both versions', async () => {
    const made = await fetch(`${serving.url}/assistants`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        graph_id: 'toned',
        name: 'Warm',
        description: 'Says warm words.',
        context: { tone: 'warm' },
      }),
    });
    const { assistant_id: id } = Object(await made.json());
    const card = await (await fetch(`${serving.url}${cardPath(String(id))}`)).json();
    const url = `${serving.url}/a2a/${String(id)}`;
    expect(card).toMatchObject({
      name: 'Warm',
      description: 'Says warm words.',
      version: '1',
      url,
      protocolVersion: '0.3',
      preferredTransport: 'JSONRPC',
      capabilities: { streaming: true },
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      skills: [{ id, tags: ['toned'] }],
    });
  });

  test('uses the public address of the deployment', async () => {
    const headers = {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'agents.test',
      'x-forwarded-prefix': '/agents/one',
    };
    const card = await (await fetch(`${serving.url}${cardPath('chat')}`, { headers })).json();
    expect(card).toMatchObject({ url: 'https://agents.test/agents/one/a2a/chat' });
  });

  test('without an assistant, describes the server’s only graph', async () => {
    const graphs = { who: './graph.ts:who' };
    const agent = temporaryAgent({ 'langgraph.json': { graphs }, 'graph.ts': files['graph.ts'] });
    const alone = await serveAgent({ configPath: agent.configPath });
    const card = await fetch(`${alone.url}/.well-known/agent-card.json`);
    expect([card.status, await card.json()]).toEqual([
      200,
      expect.objectContaining({ name: 'who', url: `${alone.url}/a2a/who` }),
    ]);
    await alone.close();
    agent.remove();
  });

  test('requires a known assistant', async () => {
    expect((await fetch(`${serving.url}${cardPath('unknown')}`)).status).toBe(404);
    expect((await fetch(`${serving.url}/.well-known/agent-card.json`)).status).toBe(422);
  });
});

describe('the wire format', () => {
  const post = (assistant: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${serving.url}/a2a/${assistant}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test('accepts the names of the public description', async () => {
    const threadId = randomUUID();
    const sent = await post('chat', {
      jsonrpc: '2.0',
      id: '1',
      method: 'message/send',
      params: {
        message: { role: 'user', parts: [{ kind: 'text', text: 'Hello' }], messageId: 'm-1' },
        thread: { threadId },
      },
    });
    const { result } = Object(await sent.json());
    expect(result).toMatchObject({
      kind: 'task',
      contextId: threadId,
      status: { state: 'completed' },
      artifacts: [{ parts: [{ kind: 'text', text: 'Good day to you' }] }],
    });
    const got = await post('chat', { jsonrpc: '2.0', id: '2', method: 'tasks/get', params: { taskId: result.id } });
    expect(await got.json()).toMatchObject({
      jsonrpc: '2.0',
      id: '2',
      result: { id: result.id, status: { state: 'completed' } },
    });
  });

  test.each([
    ['invalid JSON is a 400', 'chat', '{"jsonrpc":', 400, -32_700],
    ['an invalid id is an error', 'chat', { jsonrpc: '2.0', id: { a: 1 }, method: 'tasks/get' }, 200, -32_600],
    [
      'an unknown method is an error',
      'chat',
      { jsonrpc: '2.0', id: 1, method: 'tasks/forget', params: {} },
      200,
      -32_601,
    ],
    [
      'a missing task is an error',
      'chat',
      { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } },
      200,
      -32_001,
    ],
    [
      'a message without parts is malformed',
      'chat',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: { message: { role: 'user', messageId: 'm', parts: [] } },
      },
      200,
      -32_602,
    ],
    [
      'a context that is not a thread id is malformed',
      'chat',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: {
          message: { role: 'user', messageId: 'm', contextId: 'tomorrow', parts: [{ kind: 'text', text: 'x' }] },
        },
      },
      200,
      -32_602,
    ],
    [
      'a context id can’t reach another endpoint',
      'chat',
      { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { contextId: '../ok#' } },
      200,
      -32_602,
    ],
    [
      'a file is rejected',
      'chat',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: {
          message: { role: 'user', messageId: 'm', parts: [{ kind: 'file', file: { uri: 'https://example.test' } }] },
        },
      },
      200,
      -32_005,
    ],
    [
      'push notifications are not supported',
      'chat',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tasks/pushNotificationConfig/set',
        params: { taskId: 'x', pushNotificationConfig: { url: 'https://example.test' } },
      },
      200,
      -32_003,
    ],
    [
      'a message that requests push notifications is rejected',
      'chat',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: {
          message: { role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'x' }] },
          configuration: { blocking: true, pushNotificationConfig: { url: 'https://example.test' } },
        },
      },
      200,
      -32_003,
    ],
  ])('%s', async (_, assistant, body, status, code) => {
    const answer = await post(assistant, body);
    expect([answer.status, await answer.json()]).toEqual([
      status,
      expect.objectContaining({ error: expect.objectContaining({ code }) }),
    ]);
  });

  test('an unknown assistant is a 404', async () => {
    const answer = await post('unknown', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } });
    expect([answer.status, await answer.json()]).toEqual([404, { detail: expect.stringContaining('unknown') }]);
  });

  test('rejects an unsupported version', async () => {
    const answer = await post(
      'chat',
      { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } },
      { 'a2a-version': '7.0' },
    );
    expect(await answer.json()).toMatchObject({ error: { code: -32_009 } });
  });

  test('a stream is server-sent events of JSON-RPC', async () => {
    const answer = await post('chat', {
      jsonrpc: '2.0',
      id: 7,
      method: 'message/stream',
      params: { message: { role: 'user', parts: [{ kind: 'text', text: 'Hello' }], messageId: 'm-2' } },
    });
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = (await answer.text()).split('\n\n').filter((event) => event.startsWith('data: '));
    const reported: unknown[] = events.map((event) => JSON.parse(event.slice('data: '.length)));
    expect(reported[0]).toMatchObject({
      jsonrpc: '2.0',
      id: 7,
      result: { kind: 'task', status: { state: 'working' } },
    });
    expect(reported.at(-1)).toMatchObject({
      id: 7,
      result: { kind: 'status-update', final: true, status: { state: 'completed' } },
    });
  });

  test('a message can’t join another task', async () => {
    const client = await factory.createFromUrl(serving.url, cardPath('chat'));
    const first = await send(client, message([text('one')]));
    const said = message([text('two')], { contextId: first.contextId });
    const metadata = { a2a_task_id: first.id, colour: 'red' };
    const second = await client.sendMessage({ tenant: '', message: said, configuration: undefined, metadata });
    const { id } = 'messageId' in second ? first : second;
    expect(id).not.toBe(first.id);
    const run = await fetch(`${serving.url}/threads/${first.contextId}/runs/${id}`);
    expect(Object(await run.json()).metadata).toEqual(expect.objectContaining({ colour: 'red' }));
    expect((await client.getTask({ tenant: '', id: first.id })).history.at(-2)?.messageId).not.toBe(said.messageId);
  });

  test('lists the tasks of a context, newest first, page by page', async () => {
    const client = await factory.createFromUrl(serving.url, cardPath('chat'));
    const contextId = randomUUID();
    const ids: string[] = [];
    for (const word of ['one', 'two', 'three']) ids.push((await send(client, message([text(word)], { contextId }))).id);
    const list = async (params: object) =>
      Object(
        await (
          await post('chat', { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { contextId, ...params } })
        ).json(),
      ).result;
    const first = await list({ pageSize: 2 });
    expect(first.tasks.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]]);
    const second = await list({ pageSize: 2, pageToken: first.nextPageToken });
    expect(second.tasks.map(({ id }: { id: string }) => id)).toEqual([ids[0]]);
    expect(second.nextPageToken ?? '').toBe('');
  });
});
