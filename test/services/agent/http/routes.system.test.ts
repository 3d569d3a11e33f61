import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveAgent, type Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';

const graph = `
  import { Annotation, StateGraph } from '@langchain/langgraph';
  const State = Annotation.Root({ reported: Annotation<unknown> });
  export const report = new StateGraph(State)
    .addNode('report', async (_, { configurable }) => ({ reported: configurable }))
    .addEdge('__start__', 'report')
    .addEdge('report', '__end__')
    .compile();`;
const app = `
  import { Hono } from 'hono';
  import { HTTPException } from 'hono/http-exception';
  export const app = new Hono();
  app.use('*', async (c, next) => {
    c.header('x-request-id', '7');
    await next();
    c.header('x-seen-by', 'the agent');
  });
  app.get('/hello', (c) => c.json({ hello: c.req.header('x-landfall-agent-token') ?? 'world', who: c.get('auth')?.user.identity }));
  app.get('/broken', () => { throw new Error('broken'); });
  app.get('/refused', () => { throw new HTTPException(403, { message: 'Not you.' }); });
  app.get('/assistants/special', (c) => c.json({ special: true }));`;
const auth = `
  import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
  export const auth = new Auth().authenticate((request) => {
    const name = request.headers.get('x-user');
    if (name === null) throw new HTTPException(401, { message: 'Who are you?' });
    return name;
  });`;

/** Serves an agent with these keys in its configuration. */
async function serveWith(keys: object, token?: string): Promise<Serving> {
  const agent = temporaryAgent({
    'langgraph.json': { graphs: { report: './graph.ts:report' }, ...keys },
    'graph.ts': graph,
    'app.ts': app,
    'auth.ts': auth,
    'plain.ts': `
      export default {
        word: 'plain',
        fetch(request: Request) {
          return Response.json({ [this.word]: new URL(request.url).pathname, token: request.headers.get('x-landfall-agent-token') });
        },
      };`,
  });
  const serving = await serveAgent({ configPath: agent.configPath, token });
  const close = async () => {
    await serving.close();
    agent.remove();
  };
  return { ...serving, close };
}

/** Serves it for the surrounding tests. */
function given(keys: object, token?: string): () => Serving {
  let serving: Serving | undefined;
  beforeAll(async () => {
    serving = await serveWith(keys, token);
  });
  afterAll(() => serving?.close());
  return () => {
    if (!serving) throw new Error('Nothing is served.');
    return serving;
  };
}

const json = async (response: Response | Promise<Response>) => {
  const { status, headers } = await response;
  const text = await (await response).text();
  return { status, headers, body: text === '' ? undefined : Object(JSON.parse(text)) };
};
const waitFor = (url: string, headers: Record<string, string> = {}) =>
  json(
    fetch(`${url}/runs/wait`, { method: 'POST', headers, body: JSON.stringify({ assistant_id: 'report', input: {} }) }),
  );

describe('without http configuration', () => {
  const serving = given({});

  test('allows any origin, and exposes the location and pagination headers', async () => {
    const { headers } = await fetch(`${serving().url}/ok`, { headers: { origin: 'https://app.example.test' } });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toBe(
      'content-location,x-pagination-total,x-pagination-next,warning',
    );
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('answers a preflight request', async () => {
    const preflight = await fetch(`${serving().url}/runs/stream`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.test',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type,x-api-key');
  });

  test('sends CORS headers with errors and streams too', async () => {
    const headers = { origin: 'https://app.example.test' };
    const missing = await fetch(`${serving().url}/threads/x`, { headers });
    expect([missing.status, missing.headers.get('access-control-allow-origin')]).toEqual([422, '*']);
    const stream = await fetch(`${serving().url}/runs/stream`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ assistant_id: 'report', input: {} }),
    });
    expect(stream.headers.get('access-control-allow-origin')).toBe('*');
    expect(await stream.text()).toContain('event: values');
  });

  test('sends no CORS headers without an origin', async () => {
    const { headers } = await fetch(`${serving().url}/ok`);
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  test('adds safe headers to `configurable`, over the body, without credentials', async () => {
    const headers = { 'x-mood': 'calm', 'x-api-key': 'secret', authorization: 'Bearer secret', 'user-agent': 'test' };
    const { body } = await waitFor(serving().url, headers);
    expect(body.reported).toMatchObject({ 'x-mood': 'calm', 'user-agent': 'test', graph_id: 'report' });
    expect(JSON.stringify(body)).not.toContain('secret');
  });
});

describe('disabled routes', () => {
  const serving = given({
    http: {
      disable_assistants: true,
      disable_threads: true,
      disable_store: true,
      disable_mcp: true,
      disable_a2a: true,
      disable_meta: true,
    },
  });

  test.each([
    ['POST', '/assistants/search'],
    ['GET', '/assistants/report'],
    ['POST', '/threads'],
    ['POST', '/store/items/search'],
    ['GET', '/store/items?key=x'],
    ['POST', '/mcp'],
    ['POST', '/mcp/'],
    ['POST', '/a2a/report'],
    ['GET', '/.well-known/agent-card.json?assistant_id=report'],
    ['GET', '/info'],
    ['GET', '/metrics'],
    ['GET', '/docs'],
    ['GET', '/openapi.json'],
  ])('%s %s is off', async (method, path) => {
    const answer = await json(fetch(`${serving().url}${path}`, { method }));
    expect(answer.status).toBe(404);
    expect(answer.body.detail).toMatch(/is disabled by http\.disable_\w+ of the graph configuration\.$/);
  });

  test('keeps the other routes, and `/ok` responds', async () => {
    expect((await waitFor(serving().url)).status).toBe(200);
    expect((await json(fetch(`${serving().url}/ok?check_db=1`))).body).toEqual({ ok: true });
  });
});

describe('disabled runs', () => {
  const serving = given({ http: { disable_runs: true } });

  test('also disables thread runs and crons; MCP may still run an assistant', async () => {
    const { body: thread } = await json(fetch(`${serving().url}/threads`, { method: 'POST' }));
    const paths = [
      '/runs/wait',
      '/runs/crons',
      `/threads/${thread.thread_id}/runs`,
      `/thread/${thread.thread_id}/runs`,
      `/threads/${thread.thread_id}/commands`,
      `/threads/${thread.thread_id}/stream/events`,
    ];
    for (const path of paths) expect((await fetch(`${serving().url}${path}`, { method: 'POST' })).status).toBe(404);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'report', arguments: {} } };
    const answer = await fetch(`${serving().url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(call),
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('graph_id');
  });
});

describe('the agent’s own application', () => {
  const serving = given({ http: { app: './app.ts:app', mount_prefix: '/api/' } }, 'front');
  const get = (path: string) =>
    fetch(`${serving().url}${path}`, { headers: { 'x-landfall-agent-token': 'front', origin: 'https://a.test' } });

  test('responds beside the server’s routes, behind a token it does not receive', async () => {
    expect(await json(get('/hello'))).toMatchObject({ status: 200, body: { hello: 'world' } });
    expect((await fetch(`${serving().url}/hello`)).status).toBe(403);
  });

  test('overrides a server route, and its middleware runs for all routes', async () => {
    expect((await json(get('/assistants/special'))).body).toEqual({ special: true });
    const info = await get('/info');
    expect(info.headers.get('x-seen-by')).toBe('the agent');
    const missing = await get('/threads/00000000-0000-4000-8000-000000000000');
    expect([missing.status, missing.headers.get('x-request-id')]).toEqual([404, '7']);
    const refused = await get('/refused');
    expect([refused.status, refused.headers.get('x-request-id')]).toEqual([403, '7']);
    expect(await info.json()).toHaveProperty('version');
  });

  test('returns 500 when it throws, and the server continues', async () => {
    expect((await get('/broken')).status).toBe(500);
    expect((await get('/ok')).status).toBe(200);
  });

  test('responds with all routes below the prefix too', async () => {
    expect((await json(get('/api/hello'))).body).toEqual({ hello: 'world' });
    expect((await json(get('/api/assistants/report'))).body).toMatchObject({ graph_id: 'report' });
    expect((await get('/apiary')).status).toBe(404);
    expect((await fetch(`${serving().url}/api/ok`)).status).toBe(403);
  });
});

describe('the OpenAPI description', () => {
  const openapi = {
    securitySchemes: { ours: { type: 'http', scheme: 'bearer' } },
    security: [{ ours: [] }],
    paths: { '/threads/search': { POST: [{ ours: ['find'] }] } },
  };
  const serving = given({
    http: { disable_store: true, disable_runs: true },
    auth: { path: './auth.ts:auth', openapi },
  });

  test('includes the configured security, and omits disabled routes', async () => {
    const { body } = await json(fetch(`${serving().url}/openapi.json`));
    expect(body.components.securitySchemes).toMatchObject({ ours: { scheme: 'bearer' } });
    expect(body.paths['/threads'].post.security).toEqual([{ ours: [] }]);
    expect(body.paths['/threads/search'].post.security).toEqual([{ ours: ['find'] }]);
    expect(body.paths['/ok'].get.security).not.toContainEqual({ ours: [] });
    expect(Object.keys(body.paths).filter((path) => /\/runs|\/store/.test(path))).toEqual([]);
  });
});

describe('an application with only a fetch handler', () => {
  const serving = given({ http: { app: './plain.ts' } }, 'front');

  test('receives requests for paths that the server does not have', async () => {
    const headers = { 'x-landfall-agent-token': 'front' };
    expect((await json(fetch(`${serving().url}/my/page`, { headers }))).body).toEqual({
      plain: '/my/page',
      token: null,
    });
    expect((await json(fetch(`${serving().url}/info`, { headers }))).body).toHaveProperty('version');
  });
});

describe('an application with access rules', () => {
  const asAda = { headers: { 'x-user': 'ada' } };
  const seenBy = (response: Response) => response.headers.get('x-seen-by');

  describe('by itself', () => {
    const serving = given({ http: { app: './app.ts:app' }, auth: { path: './auth.ts:auth' } });

    test('runs before them, and is open', async () => {
      expect((await json(fetch(`${serving().url}/hello`))).body).toEqual({ hello: 'world' });
      const refused = await fetch(`${serving().url}/assistants/report`);
      expect([refused.status, seenBy(refused)]).toEqual([401, 'the agent']);
      expect((await fetch(`${serving().url}/assistants/report`, asAda)).status).toBe(200);
    });

    test('accepts no Studio user without a token in front', async () => {
      const headers = { 'x-auth-scheme': 'langsmith' };
      expect((await fetch(`${serving().url}/assistants/report`, { headers })).status).toBe(401);
    });
  });

  describe('after them, by `middleware_order`', () => {
    const http = { app: './app.ts:app', middleware_order: 'auth_first' };
    const serving = given({ http, auth: { path: './auth.ts:auth' } });

    test('does not receive rejected requests, and is open', async () => {
      const refused = await fetch(`${serving().url}/assistants/report`);
      expect([refused.status, seenBy(refused)]).toEqual([401, null]);
      expect((await fetch(`${serving().url}/hello`)).status).toBe(200);
    });
  });

  describe('with `enable_custom_route_auth`', () => {
    const http = { app: './app.ts:app', enable_custom_route_auth: true };
    const serving = given({ http, auth: { path: './auth.ts:auth' } });

    test('requires authentication', async () => {
      expect((await fetch(`${serving().url}/hello`)).status).toBe(401);
      expect((await json(fetch(`${serving().url}/hello`, asAda))).body).toEqual({ hello: 'world', who: 'ada' });
      expect((await fetch(`${serving().url}/ok`)).status).toBe(200);
    });
  });
});

describe('configured CORS, configurable and logged headers', () => {
  const serving = given({
    http: {
      cors: {
        allow_origins: ['https://app.example.test'],
        allow_origin_regex: 'https://[a-z]+\\.preview\\.test',
        allow_methods: ['GET', 'POST'],
        allow_headers: ['x-one'],
        expose_headers: ['X-More'],
        allow_credentials: true,
        max_age: 60,
      },
      configurable_headers: { includes: ['accept-language'], excludes: ['x-secret*', 'user-agent'] },
      logging_headers: { excludes: ['x-secret'] },
    },
  });
  const allowed = async (origin: string) =>
    (await fetch(`${serving().url}/ok`, { headers: { origin } })).headers.get('access-control-allow-origin');

  test.each([
    ['https://app.example.test', true],
    ['https://one.preview.test', true],
    ['https://one.preview.test.evil.test', false],
    ['evil-https://one.preview.test', false],
    ['https://other.example.test', false],
  ])('allows pages of %s: %s', async (origin, may) => {
    expect(await allowed(origin)).toBe(may ? origin : null);
  });

  test('answers a preflight request as configured', async () => {
    const { headers } = await fetch(`${serving().url}/runs`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.test', 'access-control-request-method': 'POST' },
    });
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-methods': 'GET,POST',
      'access-control-allow-headers': 'x-one',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'content-location,x-pagination-total,x-pagination-next,warning,x-more',
      'access-control-max-age': '60',
    });
  });

  test('passes the configured headers to runs', async () => {
    const { body } = await waitFor(serving().url, {
      'accept-language': 'de',
      'x-secret-word': 'psst',
      'x-mood': 'calm',
    });
    expect(body.reported).toMatchObject({ 'accept-language': 'de', 'x-mood': 'calm' });
    expect(Object.keys(body.reported)).not.toEqual(expect.arrayContaining(['x-secret-word']));
    expect(body.reported).not.toHaveProperty('user-agent');
  });

  test('logs each request with its headers, truncated and without credentials', async () => {
    // A raw request, because `fetch` adds headers.
    await new Promise<void>((resolve, reject) => {
      const headers = { 'x-mood': 'm'.repeat(600), 'x-secret': 'psst', 'x-api-key': 'psst', cookie: 'psst' };
      const requested = request(`${serving().url}/ok?word=psst`, { headers }, (answer) =>
        answer.resume().once('end', resolve),
      );
      requested.once('error', reject);
      requested.end();
    });
    await fetch(`${serving().url}/ok%0A%7B%22event%22:%22idle%22%7D`);
    expect(serving().lines).toContainEqual(expect.stringMatching(/^GET \/ok%0A%7B%22event%22:%22idle%22%7D 404 /));
    const line = serving().lines.find((each) => each.includes('mmm')) ?? '';
    expect(line).toMatch(/^GET \/ok 200 \d+ ms \{.*"x-mood":"m{500}"/);
    expect(line).not.toContain('psst');
  });
});
