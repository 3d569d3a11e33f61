import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${serving.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const call = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

const Reported = z.object({
  result: z.object({
    isError: z.boolean().optional(),
    content: z.array(z.object({ type: z.literal('text'), text: z.string() })).length(1),
  }),
});

const Figures = z.object({ workers: z.object({ active: z.int() }) });

/** The number of active runs. */
const running = async () =>
  Figures.parse(await (await fetch(`${serving.url}/metrics?format=json`)).json()).workers.active;

const Thread = z.array(z.object({ thread_id: z.string() }));

describe.each([
  ['of the latest version', 'auto' as const],
  ['of 2025', 'legacy' as const],
])('the official client, over HTTP, %s', (_, mode) => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${serving.url}/mcp`)));
  });
  afterAll(() => client.close());

  test('each assistant is a tool with the input of its graph', { meta: { claims: ['agent.groups.mcp'] } }, async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      expect.arrayContaining(['interrupts', 'chat', 'echo', 'made', 'outer', 'toned']),
    );
    const echo = tools.find(({ name }) => name === 'echo');
    expect(echo?.inputSchema).toMatchObject({ type: 'object', properties: { input: { type: 'string' } } });
    expect(echo?.description).toMatch(/echo/);
  });

  test('a tool call runs the assistant and returns its result', async () => {
    const { content, isError } = await client.callTool({ name: 'echo', arguments: { input: 'world' } });
    expect(isError ?? false).toBe(false);
    expect(content).toEqual([{ type: 'text', text: expect.stringContaining('"output":"hello world"') }]);
  });

  test('a failed run is a tool error', async () => {
    const { content, isError } = await client.callTool({ name: 'echo', arguments: { input: 'x', fail: 'too bad' } });
    expect([isError, content]).toEqual([true, [{ type: 'text', text: 'RequestedFailure: too bad' }]]);
  });

  test('invalid tool input is a tool error', async () => {
    const { content, isError } = await client.callTool({ name: 'toned', arguments: {} });
    expect([isError, content]).toEqual([true, [{ type: 'text', text: expect.stringContaining('tone') }]]);
  });

  test('an unknown tool is a protocol error', async () => {
    await expect(client.callTool({ name: 'unknown', arguments: {} })).rejects.toThrow('unknown');
  });
});

describe('the endpoint', () => {
  test('a created assistant is a tool by its name, with its context', async () => {
    const assistant = { graph_id: 'toned', name: 'Warm words!', context: { tone: 'warm' }, description: 'Says so.' };
    expect((await post('/assistants', assistant)).status).toBe(200);
    const list = await (await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })).json();
    expect(list).toMatchObject({
      result: {
        tools: expect.arrayContaining([expect.objectContaining({ name: 'Warm_words_', description: 'Says so.' })]),
      },
    });
    const { result } = Reported.parse(await (await post('/mcp', call('Warm_words_', {}))).json());
    expect(JSON.parse(result.content[0]?.text ?? '')).toMatchObject({ said: 'warm words' });
  });

  test('both spellings of the path return one response', async () => {
    for (const path of ['/mcp', '/mcp/']) {
      const answer = await post(path, call('echo', { input: 'again' }));
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(Reported.parse(await answer.json()).result.content[0]?.text).toContain('hello again');
    }
  });

  test('waits for a long run', async () => {
    const { result } = Reported.parse(
      await (await post('/mcp', call('echo', { input: 'late', sleep_ms: 2_500 }))).json(),
    );
    expect(result.content[0]?.text).toContain('hello late');
  });

  test('a broken connection of a 2025 client ends the run', async () => {
    const left = new AbortController();
    const body = JSON.stringify(call('echo', { input: 'x', sleep_ms: 60_000 }));
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const requested = fetch(`${serving.url}/mcp`, { method: 'POST', headers, body, signal: left.signal });
    const cut = requested.then((answer) => answer.text()).catch(String);
    await until(async () => ((await running()) === 1 ? true : undefined));
    left.abort();
    expect(await cut).toContain('abort');
    await until(async () => ((await running()) === 0 ? true : undefined));
  });

  test('a cancelled request of a current client ends the run', async () => {
    const client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${serving.url}/mcp`)));
    const left = new AbortController();
    const requested = client.callTool(
      { name: 'echo', arguments: { input: 'x', sleep_ms: 60_000 } },
      { signal: left.signal },
    );
    const cut = requested.catch(String);
    await until(async () => ((await running()) === 1 ? true : undefined));
    left.abort(new Error('enough'));
    expect(await cut).toContain('enough');
    await until(async () => ((await running()) === 0 ? true : undefined));
    await client.close();
  });

  test('a call leaves no thread', async () => {
    const threads = async () => Thread.parse(await (await post('/threads/search', {})).json()).length;
    const before = await threads();
    await post('/mcp', call('echo', { input: 'x' }));
    expect(await threads()).toBe(before);
  });

  test('has no stream, and no session to end', async () => {
    const requested = await Promise.all(
      ['GET', 'DELETE'].map((method) =>
        fetch(`${serving.url}/mcp/`, { method, headers: { accept: 'text/event-stream' } }),
      ),
    );
    expect(requested.map(({ status }) => status)).toEqual([405, 404]);
    expect(requested[0]?.headers.get('allow')).toBe('POST');
    for (const answer of requested) expect(await answer.json()).toEqual({ detail: expect.any(String) });
  });

  test('returns a JSON-RPC error for invalid JSON, and accepts notifications', async () => {
    const broken = await post('/mcp', '{"jsonrpc":');
    expect([broken.status, await broken.json()]).toEqual([400, expect.objectContaining({ error: expect.anything() })]);
    const reported = await post('/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(reported.status).toBe(202);
  });
});

describe('with a token', () => {
  test('rejects requests without the token, and serves those with it', async () => {
    const guarded = await serveAgent({ token: 'only-me' });
    try {
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const ask = (headers: Record<string, string>) =>
        guarded.fetch(
          new Request('http://agent.test/mcp', {
            method: 'POST',
            headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
            body: JSON.stringify(list),
          }),
        );
      expect((await ask({})).status).toBe(403);
      const answer = await ask({ 'x-landfall-agent-token': 'only-me' });
      expect(await answer.json()).toMatchObject({ result: { tools: expect.any(Array) } });
    } finally {
      await guarded.close();
    }
  });
});
