import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planRequestedRun } from '../../../../src/services/agent/runs/acceptance.ts';
import { GraphFactoryError } from '../../../../src/services/agent/graphs/graph.ts';
import { connectAgentServer, type AgentServerClient } from '../../../../src/client/agent.ts';
import { askInProcess, type Ask } from '../ask.ts';
import { serveAgent, type Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';

const agent = temporaryAgent({
  'langgraph.json': { graphs: { picky: './picky.ts:picky' } },
  'picky.ts': `
    import { Annotation, StateGraph } from '@langchain/langgraph';
    class NoModel extends Error {}
    const graph = new StateGraph(Annotation.Root({ said: Annotation<string> }))
      .addNode('say', async () => ({ said: 'yes' }))
      .addEdge('__start__', 'say')
      .compile();
    export async function picky({ configurable }, runtime) {
      Object.assign(globalThis, { lastRuntime: runtime });
      if (configurable?.model === 'none') throw new NoModel('which model?');
      return configurable?.model === 'odd' ? { odd: true } : graph;
    }`,
});
let serving: Serving;
let server: AgentServerClient;
beforeAll(async () => {
  serving = await serveAgent({ configPath: agent.configPath });
  server = connectAgentServer({ url: serving.url, userAgent: 'landfall-tests' });
});
afterAll(async () => {
  await server.close();
  await serving.close();
  agent.remove();
});

describe('a graph factory', () => {
  test.each([
    ['throws', 'none', { error: 'NoModel', message: 'which model?' }],
    ['returns no graph', 'odd', { error: 'StartupError', message: expect.stringContaining('is no graph') }],
  ])('fails the run if it %s, on a thread and without one', async (_, model, error) => {
    const { thread_id } = await server.createThread({});
    const request = { assistant_id: 'picky', input: {}, config: { configurable: { model } } };
    expect(await server.waitRun(request, thread_id)).toEqual({ kind: 'error', error });
    expect(await server.waitRun(request, undefined)).toEqual({ kind: 'error', error });
    expect(await server.getThread(thread_id)).toMatchObject({ status: 'error' });
    const fine = await server.waitRun({ assistant_id: 'picky', input: {} }, thread_id);
    expect(fine).toEqual({ kind: 'values', values: { said: 'yes' } });
  });
});

describe('a graph factory is told what the graph is for', () => {
  const lastRuntime = (): unknown => Reflect.get(globalThis, 'lastRuntime');
  const nothing = { executionRuntime: null };
  const ask: Ask = (method, path, body) => askInProcess(serving)(method, path, body);

  test.each([true, false])('a run with its context, on a thread: %s', async (isOnThread) => {
    const { thread_id } = await server.createThread({});
    const context = { tone: 'warm' };
    await server.waitRun({ assistant_id: 'picky', input: {}, context }, isOnThread ? thread_id : undefined);
    expect(lastRuntime()).toEqual({ accessContext: 'threads.create_run', executionRuntime: { context } });
  });

  test('what is read or changed', async () => {
    const { thread_id } = await server.createThread({});
    await server.waitRun({ assistant_id: 'picky', input: {} }, thread_id);
    await ask('GET', `/threads/${thread_id}/state`);
    expect(lastRuntime()).toEqual({ accessContext: 'threads.read', ...nothing });
    await ask('POST', `/threads/${thread_id}/state`, { values: { said: 'no' } });
    expect(lastRuntime()).toEqual({ accessContext: 'threads.update', ...nothing });
    await ask('GET', '/assistants/picky/graph');
    expect(lastRuntime()).toEqual({ accessContext: 'assistants.read', ...nothing });
  });
});

test('an input beside a command is ignored with a warning, an empty one without', async () => {
  const { thread_id } = await server.createThread({});
  await server.waitRun({ assistant_id: 'picky', input: {} }, thread_id);
  const send = (input: unknown) =>
    askInProcess(serving)('POST', `/threads/${thread_id}/runs/wait`, {
      assistant_id: 'picky',
      input,
      command: { update: { said: 'by the command' } },
    });
  const { status, headers } = await send({ said: 'by the input' });
  expect([status, headers.get('warning')]).toEqual([
    200,
    '299 landfall "input is ignored, because the run has a command"',
  ]);
  for (const input of [{}, null, []]) expect((await send(input)).headers.get('warning')).toBeNull();
});

describe('accepting a run', () => {
  const [created_at, updated_at] = [new Date(0), new Date(0)];
  const named = { assistant_id: 'a', graph_id: 'g', version: 1, name: 'a', description: null };
  const assistant = { ...named, context: {}, config: {}, metadata: {}, created_at, updated_at };
  /** Plans a run of a graph whose factory throws. */
  const planned = (thrown: Error) =>
    planRequestedRun(
      { request: { assistant_id: 'g' }, threadId: undefined, mode: 'wait' },
      {
        assistants: { get: async () => assistant },
        graphs: { has: () => true, list: () => [], make: () => Promise.reject(thrown) },
        clock: { now: () => 0, sleep: async () => undefined },
        checkWebhook: () => undefined,
        unknownNodes: 'accept',
      },
    );

  test('accepts it although the agent creates no graph: the run fails later', async () => {
    expect(await planned(new GraphFactoryError('g', new Error('x')))).toMatchObject({ graphId: 'g' });
  });

  test('does not blame our own error on the agent', async () => {
    await expect(planned(new TypeError('ours'))).rejects.toThrow('ours');
  });
});
