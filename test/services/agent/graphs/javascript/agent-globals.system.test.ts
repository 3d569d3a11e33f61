import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { loggerTo } from '../../../../logger.ts';
import { serveAgent, type Serving } from '../../serving.ts';
import { temporaryAgent } from '../../temporary-agent.ts';

const agent = temporaryAgent({
  'langgraph.json': {
    graphs: { asker: './graph.ts:asker', talk: './graph.ts:talk', who: './graph.ts:who' },
    auth: { path: './auth.ts:auth' },
    http: { app: './app.ts:app', enable_custom_route_auth: true },
  },
  'graph.ts': `
    import { AsyncLocalStorage } from 'node:async_hooks';
    import { Client } from '@langchain/langgraph-sdk';
    import { getLogger } from '@langchain/langgraph-sdk/logging';
    import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';
    import { RemoteGraph } from '@langchain/langgraph/remote';
    const logger = getLogger();
    logger.info('The module is loaded.');
    const client = new Client();
    const outside = AsyncLocalStorage.snapshot();
    const clientOf = ({ configurable }) =>
      new Client({ defaultHeaders: { 'x-user': configurable.langgraph_auth_user_id } });
    const State = Annotation.Root({ by: Annotation<string>, id: Annotation<string>, reply: Annotation<unknown> });
    const ownersOf = async (search) => (await search).map(({ metadata }) => metadata.owner);
    const Talk = Annotation.Root({ said: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }) });
    export const talk = new StateGraph(Talk)
      .addNode('say', ({ said }) => ({ said: [interrupt('after ' + said.length)] }))
      .addEdge('__start__', 'say')
      .addEdge('say', '__end__')
      .compile();
    export const who = new StateGraph(State)
      .addNode('answer', async (_, { configurable }) => ({ reply: configurable.langgraph_auth_user_id }))
      .addEdge('__start__', 'answer')
      .addEdge('answer', '__end__')
      .compile();
    export const asker = new StateGraph(State)
      .addNode('ask', async ({ by, id }, config) => {
        logger.warn('Asking', { by, level: 'mine' }).silly('Done');
        if (by === 'client') return { reply: (await clientOf(config).runs.wait(null, 'who', { input: {} })).reply };
        const kept = { metadata: { kept: true } };
        if (by === 'search') return { reply: await ownersOf(clientOf(config).threads.search(kept)) };
        if (by === 'shared client') return { reply: await ownersOf(client.threads.search(kept)) };
        if (by === 'read') return { reply: await client.threads.getState(id).then(({ values }) => values, ({ status }) => status) };
        if (by === 'shared run') return { reply: (await client.runs.wait(null, 'who', { input: {} })).reply };
        if (by === 'remote without headers') return { reply: (await new RemoteGraph({ graphId: 'who' }).invoke({})).reply };
        if (by === 'stream') {
          const events = [];
          for await (const { event } of clientOf(config).runs.stream(null, 'who', { input: {} })) events.push(event);
          return { reply: events };
        }
        if (by === 'conversation') {
          const { runs, threads } = clientOf(config);
          const { thread_id } = await threads.create();
          const turn = (request) => runs.wait(thread_id, 'talk', request);
          const replies = [];
          for (const said of ['hello', 'again']) {
            const { __interrupt__: [{ value }] } = await turn({ input: {}, streamSubgraphs: true });
            replies.push(value, (await turn({ command: { resume: said }, streamSubgraphs: true })).said);
          }
          return { reply: [...replies, (await threads.getState(thread_id)).values.said] };
        }
        if (by === 'no one') return { reply: await outside(() => client.threads.search().catch((error) => error.status)) };
        const remote = new RemoteGraph({ graphId: 'who', headers: { 'x-user': config.configurable.langgraph_auth_user_id } });
        return { reply: (await remote.invoke({})).reply };
      })
      .addEdge('__start__', 'ask')
      .addEdge('ask', '__end__')
      .compile();`,
  'auth.ts': `
    import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
    export const auth = new Auth()
      .authenticate(async (request) => {
        const name = request.headers.get('x-user');
        if (!name) throw new HTTPException(401);
        return name;
      })
      .on('threads', ({ value, user }) => {
        value.metadata = { ...value.metadata, owner: user.identity };
        return { owner: user.identity };
      });`,
  'app.ts': `
    import { Client } from '@langchain/langgraph-sdk';
    import { Hono } from 'hono';
    const client = new Client();
    export const app = new Hono()
      .get('/mine', async (c) => {
        const client = new Client({ defaultHeaders: { 'x-user': c.get('auth').user.identity } });
        return c.json(await client.threads.count({ metadata: { kept: true } }));
      })
      .get('/as-sender', async (c) => c.json(await client.threads.count({ metadata: { kept: true } })))
      .get('/as-ben', async (c) => {
        const ben = new Client({ defaultHeaders: { 'x-user': 'ben' } });
        return c.json(await ben.threads.count({ metadata: { kept: true } }));
      });`,
});
const entries: Record<string, unknown>[] = [];
let serving: Serving;
beforeAll(async () => {
  vi.stubEnv('LANGGRAPH_CONFIG', '{"asker":{"configurable":{"mood":"calm"}}}');
  serving = await serveAgent({ configPath: agent.configPath, log: loggerTo((_, entry) => entries.push(entry)) });
});
afterEach(() => vi.unstubAllEnvs());
afterAll(async () => {
  await serving.close();
  agent.remove();
});

const call = (path: string, user: string, body?: object): Promise<Response> =>
  fetch(`${serving.url}${path}`, {
    headers: { 'x-user': user },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
const ask = async (by: string, user: string, id?: string): Promise<unknown> =>
  Object(await (await call('/runs/wait', user, { assistant_id: 'asker', input: { by, id } })).json()).reply;

test('the environment configures a default assistant', async () => {
  const config = { configurable: { mood: 'calm' } };
  expect(await (await call('/assistants/asker', 'ann')).json()).toMatchObject({ config });
  expect(await (await call('/assistants/search', 'ann', { graph_id: 'asker' })).json()).toMatchObject([{ config }]);
});

describe('a client of the SDK without an address', () => {
  test.each(['client', 'remote graph'])('runs another graph of its server as its headers say: %s', async (by) => {
    expect(await Promise.all([ask(by, 'ann'), ask(by, 'ben')])).toEqual(['ann', 'ben']);
  });

  test('reads a stream', async () => {
    expect(await ask('stream', 'ann')).toEqual(['metadata', 'values']);
  });

  test('starts runs that are not part of the run that starts them', async () => {
    const twice = ['hello', 'again'];
    expect(await ask('conversation', 'ann')).toEqual(['after 0', ['hello'], 'after 1', twice, twice]);
  });

  describe('without headers', () => {
    test.each(['shared run', 'remote without headers'])('starts runs of the run’s user: %s', async (by) => {
      // More than a client sends at a time: the others wait in its queue.
      const names = Array.from({ length: 12 }, (_, at) => `user-${at}`);
      expect(await Promise.all(names.map((name) => ask(by, name)))).toEqual(names);
    });

    test('has no rights beyond a run and a request', async () => {
      expect(await ask('no one', 'ann')).toBe(401);
    });

    test("reads no other user's state, though the SDK shares equal reads at a time", async () => {
      const { thread_id: id } = Object(await (await call('/threads', 'ann', {})).json());
      const readers = Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? 'ann' : 'ben'));
      const read = await Promise.all(readers.map((name) => ask('read', name, id)));
      expect(read).toEqual(readers.map((name) => (name === 'ann' ? {} : 404)));
    });
  });

  test("sees only its user's threads, in a node and in the application", async () => {
    for (const owner of ['ann', 'ann', 'ben']) await call('/threads', owner, { metadata: { kept: true } });
    expect(await ask('search', 'ben')).toEqual(['ben']);
    expect(await ask('shared client', 'ann')).toEqual(['ann', 'ann']);
    expect(await (await call('/mine', 'ann')).json()).toBe(2);
    expect(await (await call('/as-sender', 'ann')).json()).toBe(2);
    expect(await (await call('/as-ben', 'ann')).json()).toBe(1);
  });
});

describe('the logger of the SDK', () => {
  test('logs while a module is loaded, and with the run, its node and fields', async () => {
    await ask('client', 'ann');
    const entryOf = (message: string) => entries.find(({ msg }) => msg === message);
    expect(entryOf('The module is loaded.')).toMatchObject({ level: 'info' });
    expect(entryOf('Asking')).toMatchObject({
      level: 'warn',
      runId: expect.any(String),
      threadId: expect.any(String),
      node: 'ask',
      fields: { by: 'client', level: 'mine' },
    });
    expect(entryOf('Done')).toMatchObject({ level: 'debug' });
  });
});
