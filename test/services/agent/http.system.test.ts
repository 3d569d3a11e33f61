import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGate } from '../../partners/clients/gate.ts';
import { UNKNOWN_ID, until } from './promises/fixture.ts';
import { serveAgent } from './serving.ts';
import type { Serving } from './serving.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

const post = (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${serving.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
const echo = { assistant_id: 'echo', input: { input: 'Ada' } };

describe('over HTTP', () => {
  test(
    'every body that is not a stream is JSON with its content type',
    { meta: { claims: ['agent.server.json-bodies'] } },
    async () => {
      const thread: { thread_id: string } = Object(await (await post('/threads')).json());
      for (const response of [
        await fetch(`${serving.url}/ok`),
        await fetch(`${serving.url}/info`),
        await post('/assistants/search'),
        await post('/threads', {}),
        await post(`/threads/${thread.thread_id}/runs/wait`, echo),
        await post('/runs/wait', { ...echo, input: { input: 'x', fail: 'y' } }),
        await fetch(`${serving.url}/threads/${thread.thread_id}/state`),
        await fetch(`${serving.url}/threads/nope`),
        await fetch(`${serving.url}/nowhere`),
      ]) {
        expect(response.headers.get('content-type')).toMatch(/^application\/json/);
        expect(await response.json()).toBeDefined();
      }
    },
  );

  test(
    'a stream is server-sent events with type and JSON',
    { meta: { claims: ['agent.server.sse-streams', 'agent.stream.event-line', 'agent.stream.data-line'] } },
    async () => {
      const response = await post('/runs/stream', { ...echo, stream_mode: ['updates'] });
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const events = (await response.text()).split('\n\n').slice(0, -1);
      expect(events).toHaveLength(3);
      for (const event of events) {
        const [name = '', data = ''] = event.split('\n');
        expect(name).toMatch(/^event: (metadata|updates)$/);
        expect(JSON.parse(data.replace(/^data: /, ''))).toBeTypeOf('object');
      }
    },
  );

  test.each([
    ['Assistant', 'GET', `/assistants/${UNKNOWN_ID}`, undefined],
    ['Assistant', 'GET', '/assistants/unknown/graph', undefined],
    ['Assistant', 'POST', '/runs/wait', { assistant_id: 'unknown' }],
    ['Assistant version', 'POST', '/assistants/echo/latest', { version: 99 }],
    ['Thread', 'GET', `/threads/${UNKNOWN_ID}`, undefined],
    ['Thread', 'GET', `/threads/${UNKNOWN_ID}/state`, undefined],
    ['Thread', 'PATCH', `/threads/${UNKNOWN_ID}`, { metadata: {} }],
    ['Thread', 'POST', `/threads/${UNKNOWN_ID}/copy`, undefined],
    ['Thread', 'POST', `/threads/${UNKNOWN_ID}/runs/wait`, echo],
    ['Run', 'GET', `/threads/${UNKNOWN_ID}/runs/${UNKNOWN_ID}`, undefined],
    ['Run', 'GET', `/runs/${UNKNOWN_ID}/stream`, undefined],
    ['Cron', 'DELETE', `/runs/crons/${UNKNOWN_ID}`, undefined],
    ['Graph "unknown"', 'POST', '/assistants', { graph_id: 'unknown' }],
  ])('a missing resource has the public server’s words: %s, %s %s', async (kind, method, path, body) => {
    const response = await fetch(`${serving.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ detail: expect.stringMatching(`^${kind} not found\\. [A-Z].+\\.$`) });
  });

  test('returns the location of a run, which can be joined there', async () => {
    const response = await post('/runs/stream', { ...echo, on_completion: 'keep' });
    const place = response.headers.get('content-location') ?? '';
    expect(place).toMatch(/^\/threads\/[0-9a-f-]{36}\/runs\/[0-9a-f-]{36}$/);
    await response.text();
    expect(await (await fetch(`${serving.url}${place}`)).json()).toMatchObject({ status: 'success' });
    expect(await (await fetch(`${serving.url}${place}/join`)).json()).toMatchObject({ output: 'hello Ada' });
    // No events were kept: a late client only receives the run's metadata.
    const late = await (await fetch(`${serving.url}${place}/stream`)).text();
    expect(late.match(/^event: .*$/gm)).toEqual(['event: metadata']);
  });

  test('a resumable run continues where the stream broke', async () => {
    await using gate = await startGate();
    const first = await post('/runs/stream', {
      assistant_id: 'gated',
      input: { input: 'x', gate: gate.url },
      stream_mode: ['updates'],
      stream_resumable: true,
      on_disconnect: 'continue',
    });
    const place = first.headers.get('content-location') ?? '';
    await first.body?.cancel();
    const whole = await fetch(`${serving.url}${place}/stream`);
    const rest = await fetch(`${serving.url}${place}/stream`, { headers: { 'last-event-id': '1' } });
    gate.open();
    const names = async (response: Response) => (await response.text()).match(/^(event|id): .*$/gm);
    expect(await names(whole)).toEqual([
      'event: metadata',
      'id: 0',
      'event: updates',
      'id: 1',
      'event: updates',
      'id: 2',
    ]);
    expect(await names(rest)).toEqual(['event: updates', 'id: 2']);
  });

  test('a long wait starts its response at once and ends with the values', async () => {
    const response = await post('/runs/wait', { ...echo, input: { input: 'x', sleep_ms: 4000 } });
    // The newlines were sent while it waited.
    const body = await response.text();
    expect(body).toMatch(/^\n+\{/);
    expect(JSON.parse(body)).toMatchObject({ output: 'hello x' });
  });

  test('a search returns the total', async () => {
    const response = await post('/assistants/search', { limit: 2 });
    expect(await response.json()).toHaveLength(2);
    expect(response.headers.get('x-pagination-total')).toBe('7');
    expect(await (await post('/assistants/count', { graph_id: 'echo' })).json()).toBe(1);
    const selected = await post('/assistants/search', { graph_id: 'echo', select: ['graph_id', 'name'] });
    expect(await selected.json()).toEqual([{ graph_id: 'echo', name: 'echo' }]);
  });

  test('searches threads by metadata, values and status; merges metadata', async () => {
    const thread = Object(await (await post('/threads', { metadata: { mark: 'm1' } })).json());
    await post(`/threads/${thread.thread_id}/runs/wait`, { ...echo, input: { input: 'nul \u0000 here' } });
    const other = Object(await (await post('/threads', { metadata: { mark: 'm1' } })).json());
    await post(`/threads/${other.thread_id}/runs/wait`, echo);
    const ids = async (request: object) => {
      const found: unknown = await (await post('/threads/search', { metadata: { mark: 'm1' }, ...request })).json();
      return Array.isArray(found) ? found.map((each) => each.thread_id) : [];
    };
    expect(await ids({})).toEqual([other.thread_id, thread.thread_id]);
    expect(await ids({ values: { output: 'hello Ada' } })).toEqual([other.thread_id]);
    expect(await ids({ status: 'busy' })).toEqual([]);
    expect(await ids({ ids: [thread.thread_id] })).toEqual([thread.thread_id]);
    const patched = await fetch(`${serving.url}/threads/${thread.thread_id}`, {
      method: 'PATCH',
      body: '{"metadata":{"more":1}}',
    });
    expect(await patched.json()).toMatchObject({ metadata: { mark: 'm1', more: 1, graph_id: 'echo' } });
    expect(await (await post('/threads/count', { metadata: { mark: 'm1' } })).json()).toBe(2);
  });

  test('lists runs newest first, and deletes one that has ended', async () => {
    const thread = Object(await (await post('/threads')).json());
    const runs = `${serving.url}/threads/${thread.thread_id}/runs`;
    for (const input of ['a', 'b']) await post(`/threads/${thread.thread_id}/runs/wait`, { ...echo, input: { input } });
    const listed = Object(await (await fetch(runs)).json());
    expect(listed.map((run: { kwargs: { input: unknown } }) => run.kwargs.input)).toEqual([
      { input: 'b' },
      { input: 'a' },
    ]);
    expect((await fetch(`${runs}/${listed[0].run_id}`, { method: 'DELETE' })).status).toBe(204);
    expect(await (await fetch(`${runs}?limit=5&status=success`)).json()).toMatchObject([{ run_id: listed[1].run_id }]);
    expect((await fetch(`${runs}?limit=0`)).status).toBe(422);
  });

  test('starts several stateless runs at once', async () => {
    const batch = await post('/runs/batch', [echo, echo]);
    expect(await batch.json()).toMatchObject([{ status: 'pending' }, { status: 'pending' }]);
    expect((await post('/runs/batch', [])).status).toBe(422);
  });

  test.each([
    ['a body that is not JSON', '/threads', '{"a":', 400, 'The body is not JSON.'],
    ['a body that is not an object', '/threads', '[]', 422, [{ loc: ['body'] }]],
    ['a missing graph id', '/assistants', {}, 422, [{ loc: ['body', 'graph_id'] }]],
    ['an unknown mode', '/runs/stream', { ...echo, stream_mode: ['nope'] }, 422, [{ loc: ['body', 'stream_mode', 0] }]],
    ['a limit out of bounds', '/assistants/search', { limit: 1001 }, 422, [{ loc: ['body', 'limit'] }]],
    ['a thread id that is not a UUID', '/threads/nope/runs/wait', echo, 422, [{ loc: ['path', 'thread_id'] }]],
    ['a time to live of zero', '/threads', { ttl: { ttl: 0 } }, 422, [{ loc: ['body', 'ttl', 'ttl'] }]],
    [
      'an invalid end of life',
      '/threads',
      { ttl: { ttl: 5, strategy: 'x' } },
      422,
      [{ loc: ['body', 'ttl', 'strategy'] }],
    ],
    [
      'a step without a node',
      '/threads',
      { supersteps: [{ updates: [{ values: {} }] }] },
      422,
      [{ loc: ['body', 'supersteps', 0, 'updates', 0, 'as_node'] }],
    ],
    [
      'a step without a graph',
      '/threads',
      { supersteps: [{ updates: [{ as_node: 'a' }] }] },
      422,
      [{ loc: ['body', 'supersteps'] }],
    ],
    [
      'an unknown prune strategy',
      '/threads/prune',
      { thread_ids: [], strategy: 'x' },
      422,
      [{ loc: ['body', 'strategy'] }],
    ],
    ['invalid thread ids to prune', '/threads/prune', { thread_ids: ['x'] }, 422, [{ loc: ['body', 'thread_ids', 0] }]],
  ])(
    'rejects %s, and names the field',
    { meta: { claims: ['agent.errors.invalid-body'] } },
    async (_, path, body, status, detail) => {
      const response = await post(path, body);
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ detail });
    },
  );

  test('ignores unknown fields and nulls', async () => {
    const response = await post('/runs/wait', { ...echo, langsmith_tracer: {}, checkpoint: null, context: null });
    expect(await response.json()).toMatchObject({ output: 'hello Ada' });
  });

  test('rejects a body that is too large, with or without a length', async () => {
    const large = JSON.stringify({ metadata: { x: 'x'.repeat(16 * 1024 * 1024) } });
    expect((await post('/threads', large)).status).toBe(413);
    const socket = connect(Number(new URL(serving.url).port), '127.0.0.1');
    socket.write('POST /threads HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n');
    socket.on('error', () => undefined);
    const piece = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 17; n += 1) socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
    socket.end('0\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('reserved configurable keys can’t be set by a request', async () => {
    const configurable = { __pregel_read: 'x', thread_id: 'other', checkpoint_ns: 'ns', word: 'mine' };
    const response = await post('/runs', {
      assistant_id: 'made',
      input: {},
      config: { configurable },
      on_completion: 'keep',
    });
    const run = Object(await response.json());
    expect(Object.keys(run.kwargs.config.configurable).toSorted()).toEqual([
      'assistant_id',
      'graph_id',
      'run_id',
      'thread_id',
      'user-agent',
      'word',
    ]);
    expect(run.kwargs.config.configurable.thread_id).toBe(run.thread_id);
  });
});

describe('when the database drops its connections', () => {
  test('an active run completes, and so do the next ones', async () => {
    const thread = Object(await (await post('/threads')).json());
    const wait = (input: object) =>
      post(`/threads/${thread.thread_id}/runs/wait`, { ...echo, input }).then((response) => response.json());
    const running = wait({ input: 'a', sleep_ms: 3_000 });
    const runs = `${serving.url}/threads/${thread.thread_id}/state`;
    await until(async () => (Object(await (await fetch(runs)).json()).next[0] === 'answer' ? true : undefined));
    const admin = new Client({ connectionString: serving.databaseUrl });
    await admin.connect();
    const own = "application_name like 'landfall-agent %' and datname = current_database()";
    const dropped = await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${own}`);
    await admin.end();
    expect(dropped.rowCount).toBeGreaterThan(0);
    expect(await running).toMatchObject({ output: 'hello a' });
    expect(await wait({ input: 'b' })).toMatchObject({ output: 'hello b' });
  });
});

describe('behind a gateway', () => {
  test('every path requires the process’s token', async () => {
    const guarded = await serveAgent({ token: 'a-secret-of-this-process' });
    try {
      const ask = (path: string, token?: string) =>
        fetch(`${guarded.url}${path}`, { headers: token === undefined ? {} : { 'x-landfall-agent-token': token } });
      for (const path of ['/ok', '/info', '/assistants/echo', '/nowhere']) {
        for (const wrong of [undefined, '', 'a-secret-of-this-procesS', 'a-secret-of-this-process-and-more']) {
          const response = await ask(path, wrong);
          expect(response.status).toBe(403);
          expect(await response.text()).not.toContain('a-secret');
        }
      }
      expect((await ask('/ok', 'a-secret-of-this-process')).status).toBe(200);
    } finally {
      await guarded.close();
    }
  });
});
