import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SettableClock } from '../crons/settable-clock.ts';
import { startGate } from '../../../partners/clients/gate.ts';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import { files } from './agent.ts';

const agent = temporaryAgent({
  ...files,
  'graph.ts': `
    import { Annotation, StateGraph } from '@langchain/langgraph';
    const State = Annotation.Root({ said: Annotation<string>, gate: Annotation<string> });
    export const who = new StateGraph(State)
      .addNode('reply', async ({ gate }, { configurable, signal }) => {
        if (gate) await fetch(gate, { signal });
        return { said: [configurable.secret, configurable.langgraph_auth_tenant].join(' ') };
      })
      .addEdge('__start__', 'reply')
      .addEdge('reply', '__end__')
      .compile();`,
  'auth.ts': `
    import { Auth } from '@langchain/langgraph-sdk/auth';
    export const auth = new Auth()
      .authenticate(async (request) => ({ identity: request.headers.get('x-user') ?? 'anonymous', permissions: [] }))
      .on('*', ({ value, user }: any) => {
        if (user.identity === 'keeper') return true;
        value.metadata = { ...value.metadata, owner: user.identity };
        return { owner: user.identity };
      })
      .on('threads:create_run', ({ value, user }: any) => {
        if (user.identity === 'idle') return false;
        value.metadata = { ...value.metadata, owner: user.identity };
        if (user.identity === 'careless') value.kwargs = { ...value.kwargs, config: {} };
        return user.identity === 'keeper' || { owner: user.identity };
      })
      .on('assistants:read', ({ user }: any) => {
        if (user.identity === 'blind') return false;
        return user.identity === 'keeper' || { owner: user.identity };
      });`,
});
const clock = new SettableClock('2026-03-25T08:30:00Z');
let serving: Serving;
/** Ada's assistant. */
let hers: string;
beforeAll(async () => {
  serving = await serveAgent({ configPath: agent.configPath, clock });
  hers = await assistantOf('ada');
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

async function ask(user: string, method: string, path: string, body?: unknown) {
  const response = await serving.fetch(
    new Request(`http://agent.test${path}`, {
      method,
      headers: { 'x-user': user, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  return { status: response.status, body: /^[[{\d"n]/.test(text.trim()) ? JSON.parse(text) : text };
}

async function assistantOf(user: string): Promise<string> {
  const config = { configurable: { secret: `the secret of ${user}`, langgraph_auth_tenant: 'forged' } };
  const { body } = await ask(user, 'POST', '/assistants', { graph_id: 'who', config });
  return body.assistant_id;
}

const threadOf = async (user: string): Promise<string> => (await ask(user, 'POST', '/threads', {})).body.thread_id;
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

describe('an assistant that the rules hide from a caller', () => {
  test('is missing for every way to a run, with the words for one that is not there', async () => {
    const thread = await threadOf('bob');
    const yearly = { schedule: '0 0 1 1 *' };
    const ways: [path: string, body: (id: string) => unknown][] = [
      ...['/runs', '/runs/wait', '/runs/stream'].map((path): [string, (id: string) => unknown] => [
        path,
        (id) => ({ assistant_id: id, input: {} }),
      ]),
      ...['', '/wait', '/stream'].map((rest): [string, (id: string) => unknown] => [
        `/threads/${thread}/runs${rest}`,
        (id) => ({ assistant_id: id, input: {} }),
      ]),
      ['/runs/batch', (id) => [{ assistant_id: id.toUpperCase(), input: {} }]],
      ['/runs/crons', (id) => ({ assistant_id: id, ...yearly })],
      [`/threads/${thread}/runs/crons`, (id) => ({ assistant_id: id, ...yearly })],
      [
        '/threads/00000000-0000-4000-8000-0000000000b0/runs/wait',
        (id) => ({ assistant_id: id, input: {}, if_not_exists: 'create' }),
      ],
    ];
    const nobodys = '00000000-0000-4000-8000-000000000000';
    for (const [path, body] of ways) {
      const hidden = await ask('bob', 'POST', path, body(hers));
      const missing = await ask('bob', 'POST', path, body(nobodys));
      expect([path, hidden.status]).toEqual([path, 404]);
      expect(JSON.stringify(hidden.body).toLowerCase().replaceAll(hers, nobodys)).toBe(
        JSON.stringify(missing.body).toLowerCase(),
      );
    }
    // The rejected requests left nothing.
    expect((await ask('bob', 'GET', `/threads/${thread}/runs`)).body).toEqual([]);
    expect((await ask('bob', 'POST', '/runs/crons/count', {})).body).toBe(0);
  });

  test('is missing over A2A too', async () => {
    const message = { role: 'user', messageId: 'm', parts: [{ kind: 'data', data: {} }] };
    const { body } = await ask('bob', 'POST', `/a2a/${hers}`, rpc('message/send', { message }));
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  test('runs for its owner, and for callers without a filter', async () => {
    for (const user of ['ada', 'keeper']) {
      const { body } = await ask(user, 'POST', '/runs/wait', { assistant_id: hers, input: {} });
      expect(body).toEqual({ said: 'the secret of ada ' });
    }
  });

  test("stays hidden when a handler replaces the run's arguments", async () => {
    const run = { assistant_id: hers, input: {} };
    expect(await ask('careless', 'POST', '/runs/wait', run)).toMatchObject({ status: 404 });
    expect(await ask('careless', 'POST', '/runs/crons', { ...run, schedule: '0 0 1 1 *' })).toMatchObject({
      status: 404,
    });
  });

  test('hides its versions from the time of another owner', async () => {
    const mine = await assistantOf('ada');
    await ask('keeper', 'PATCH', `/assistants/${mine}`, { metadata: { owner: 'bob' }, config: {} });
    const versions = await ask('bob', 'POST', `/assistants/${mine}/versions`, {});
    expect(versions.body.map(({ version }: { version: number }) => version)).toEqual([2]);
    expect(JSON.stringify(versions)).not.toContain('secret');
    expect(await ask('bob', 'POST', `/assistants/${mine}/versions`, { metadata: { owner: 'ada' } })).toMatchObject({
      status: 200,
      body: [],
    });
    expect((await ask('keeper', 'POST', `/assistants/${mine}/versions`, {})).body).toHaveLength(2);
    expect(await ask('cleo', 'POST', `/assistants/${mine}/versions`, {})).toMatchObject({ status: 404 });
  });
});

describe('the default assistant of a graph', () => {
  test('runs for everyone, whatever a filter says', async () => {
    expect(await ask('bob', 'POST', '/runs/wait', { assistant_id: 'who', input: {} })).toMatchObject({ status: 200 });
  });

  test('does not run for callers who may not read assistants', async () => {
    expect(await ask('blind', 'POST', '/runs/wait', { assistant_id: 'who', input: {} })).toMatchObject({
      status: 403,
    });
  });

  test('runs only for its owner once its metadata names one', async () => {
    await ask('keeper', 'PATCH', '/assistants/who', { metadata: { owner: 'ada' } });
    const run = { assistant_id: 'who', input: {} };
    expect(await ask('ada', 'POST', '/runs/wait', run)).toMatchObject({ status: 200 });
    expect(await ask('bob', 'POST', '/runs/wait', run)).toMatchObject({ status: 404 });
    const { body } = await ask('keeper', 'POST', '/assistants/who/latest', { version: 1 });
    expect(body.metadata).not.toHaveProperty('owner');
  });
});

describe('a cron', () => {
  test('starts no run of an assistant its creator can no longer see', async () => {
    const [lost, kept] = [await assistantOf('ada'), await assistantOf('ada')];
    const thread = await threadOf('ada');
    const cronOf = async (path: string, assistant_id: string): Promise<string> => {
      const daily = { assistant_id, input: {}, schedule: '0 9 * * *', on_run_completed: 'keep' };
      const { on_run_completed: _, ...onThread } = daily;
      const { status, body } = await ask('ada', 'POST', path, path === '/runs/crons' ? daily : onThread);
      expect(status).toBe(200);
      return body.cron_id;
    };
    const [ofLost, onLost, ofKept] = [
      await cronOf('/runs/crons', lost),
      await cronOf(`/threads/${thread}/runs/crons`, kept),
      await cronOf('/runs/crons', kept),
    ];
    await ask('keeper', 'PATCH', `/assistants/${lost}`, { metadata: { owner: 'bob' } });
    await ask('keeper', 'PATCH', `/threads/${thread}`, { metadata: { owner: 'bob' } });
    // Long enough that the rejected run is skipped.
    clock.set('2026-03-25T09:00:31Z');
    const threadsOf = async (cron_id: string): Promise<unknown[]> =>
      (await ask('keeper', 'POST', '/threads/search', { metadata: { cron_id } })).body;
    const isReported = (cron_id: string) =>
      serving.lines.some((line) => line.includes(`Cron ${cron_id} starts no run`));
    await until(async () => (await threadsOf(ofKept)).length === 1 || undefined);
    await until(async () => (isReported(ofLost) && isReported(onLost)) || undefined);
    expect(await threadsOf(ofLost)).toEqual([]);
    expect((await ask('keeper', 'GET', `/threads/${thread}/runs`)).body).toEqual([]);
    expect((await ask('ada', 'POST', '/threads/search', { metadata: { cron_id: ofKept } })).body).toHaveLength(1);
  });

  test('is denied to callers who may not start runs', async () => {
    const yearly = { assistant_id: 'who', schedule: '0 0 1 1 *' };
    expect(await ask('idle', 'POST', '/runs/crons', yearly)).toMatchObject({ status: 403 });
  });
});

describe('what a run without a thread leaves', () => {
  test('belongs to its caller, even if another user creates a thread with its id', async () => {
    await using gate = await startGate();
    const run = { assistant_id: 'who', input: { gate: gate.url }, stream_resumable: true };
    const { body: made } = await ask('ada', 'POST', '/runs', run);
    const place = `/threads/${made.thread_id}/runs/${made.run_id}`;
    // An unrestricted user may create the thread and give it away.
    await ask('keeper', 'POST', '/threads', { thread_id: made.thread_id, metadata: { owner: 'bob' } });
    expect(await ask('bob', 'GET', place)).toMatchObject({ status: 404 });
    expect(await ask('bob', 'POST', `${place}/cancel`)).toMatchObject({ status: 404 });
    expect(await ask('bob', 'GET', `/runs/${made.run_id}/stream`)).toMatchObject({ status: 404 });
    expect(await ask('ada', 'POST', `${place}/cancel?wait=true`)).toMatchObject({ status: 204 });
    expect(await ask('bob', 'GET', `${place}/stream`)).toMatchObject({ status: 404 });
    expect(await ask('bob', 'GET', `/runs/${made.run_id}/stream`)).toMatchObject({ status: 404 });
  });
});
