import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connectAgentServer } from '../../../../src/client/agent.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import type { TracedRun } from '../../../../src/contract/control/tracing-project.ts';
import { openStorage } from '../../../../src/services/agent/storage/open.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import { temporaryAgent, type TemporaryAgent } from '../temporary-agent.ts';
import { startCollector, type Collector } from './collector.ts';

let collector: Collector;
let agentFolder: TemporaryAgent;
const atTheEnd: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => {
  collector = await startCollector();
  agentFolder = temporaryAgent({
    'langgraph.json': { graphs: { work: './work.ts:work', watched: './work.ts:watched' } },
    'work.ts': `
      import { Annotation, StateGraph, interrupt } from '@langchain/langgraph';
      const State = Annotation.Root({ text: Annotation<string>, heard: Annotation<string> });
      const inner = new StateGraph(State)
        .addNode('shout', ({ text }) => ({ text: text.toUpperCase() }))
        .addEdge('__start__', 'shout').addEdge('shout', '__end__').compile();
      const graph = new StateGraph(State)
        .addNode('outer', inner)
        .addNode('answer', (state) => {
          const { text } = state;
          state.text = 'changed by the node';
          if (text === 'FAIL') throw new TypeError('no model');
          if (text === 'ASK') return { text: interrupt('which one?') };
          if (text === 'LONG') return { text: 'x'.repeat(100_000) };
          return { text: text + '!' };
        })
        .addNode('again', ({ text }) => ({ text }))
        .addEdge('__start__', 'outer').addEdge('outer', 'answer')
        .addConditionalEdges('answer', ({ text }) => (text.startsWith('MANY') ? 'again' : '__end__'))
        .addEdge('again', 'again');
      export const work = graph.compile();
      let heard = 0;
      const own = { handleChainStart: () => { heard += 1; } };
      export const watched = new StateGraph(State)
        .addNode('quiet', () => ({ text: 'done' }))
        .addNode('report', () => ({ heard: heard > 0 ? 'its own handler' : 'nothing' }))
        .addEdge('__start__', 'quiet').addEdge('quiet', 'report').addEdge('report', '__end__')
        .compile().withConfig({ callbacks: [own] });`,
  });
});
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
  collector.runs.length = 0;
});
afterAll(async () => {
  agentFolder.remove();
  await collector.close();
});

async function serve() {
  const server = await serveAgent({
    configPath: agentFolder.configPath,
    tracing: { url: collector.url, token: collector.token },
    clock: { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 10, signal) },
  });
  const agent = connectAgentServer({ url: server.url, userAgent: 'test' });
  atTheEnd.push(
    () => server.close(),
    () => agent.close(),
  );
  return { ...server, agent };
}
const requested = (text: string, more = {}) => ({ assistant_id: 'work', input: { text }, ...more });
const reported = (): Promise<TracedRun> => until(async () => collector.runs[0]);
const time = expect.stringMatching(/^\d{4}-.*Z$/);

test('exports the input, the output and each node, also of subgraphs', async () => {
  const { agent } = await serve();
  const { thread_id } = await agent.createThread({});
  await agent.waitRun(requested('hi'), thread_id);
  const run = await reported();
  const step = {
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    started_at: time,
    ended_at: time,
    error: null,
    is_cut: false,
  };
  expect(run).toMatchObject({ input: { text: 'hi' }, output: { text: 'HI!' }, is_cut: false });
  expect(run.steps).toEqual([
    { ...step, name: 'outer', path: [], input: { text: 'hi' }, output: { text: 'HI' } },
    { ...step, name: 'shout', path: ['outer'], input: { text: 'hi' }, output: { text: 'HI' } },
    { ...step, name: 'answer', path: [], input: { text: 'HI' }, output: { text: 'HI!' } },
  ]);
  expect(new Set(run.steps?.map(({ id }) => id)).size).toBe(3);
});

test('exports the error of a failed node, and none of an interrupted one', async () => {
  const { agent } = await serve();
  await agent.waitRun(requested('fail'), undefined);
  expect((await reported()).steps?.at(-1)).toMatchObject({
    name: 'answer',
    error: 'TypeError: no model',
    output: null,
  });
  collector.runs.length = 0;
  const { thread_id } = await agent.createThread({});
  await agent.waitRun(requested('ask'), thread_id);
  const interrupted = await reported();
  expect(interrupted.steps?.at(-1)).toMatchObject({ name: 'answer', error: null, ended_at: time, output: null });
  expect(interrupted.output).toMatchObject({ text: 'ASK', __interrupt__: [{ value: 'which one?' }] });
  collector.runs.length = 0;
  await agent.waitRun({ assistant_id: 'work', command: { resume: 'this' } }, thread_id);
  expect(await reported()).toMatchObject({ input: { resume: 'this' }, output: { text: 'this' } });
});

test('cuts long values, and leaves out steps beyond the 200th', async () => {
  const { agent } = await serve();
  await agent.waitRun(requested('long'), undefined);
  const long = await reported();
  expect(long.is_cut).toBe(true);
  expect(long.steps?.map(({ is_cut }) => is_cut)).toEqual([false, false, true]);
  expect(JSON.stringify(long).length).toBeLessThan(3 * 17_000);
  collector.runs.length = 0;
  await agent.waitRun(requested('many', { config: { recursion_limit: 210 } }), undefined);
  const many = await reported();
  expect(many).toMatchObject({ status: 'error', is_cut: true });
  expect(many.steps).toHaveLength(200);
});

test('exports the same of a run that a client streams with events', async () => {
  const { agent, url } = await serve();
  const body = JSON.stringify(
    requested('hi', { stream_mode: ['events', 'debug', 'messages'], stream_subgraphs: true }),
  );
  const streamed = await fetch(`${url}/runs/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(await streamed.text()).not.toContain('landfall_steps');
  expect((await reported()).steps?.map(({ name }) => name)).toEqual(['outer', 'shout', 'answer']);
  await agent.close();
});

test('keeps the handlers that a graph has itself', async () => {
  const { agent } = await serve();
  expect(await agent.waitRun({ assistant_id: 'watched', input: {} }, undefined)).toMatchObject({
    values: { heard: 'its own handler' },
  });
  expect((await reported()).steps?.map(({ name }) => name)).toEqual(['quiet', 'report']);
});

test('leaves inputs and outputs out where the variables of LangSmith say so', async () => {
  process.env['LANGSMITH_HIDE_INPUTS'] = 'true';
  atTheEnd.push(() => void delete process.env['LANGSMITH_HIDE_INPUTS']);
  const { agent } = await serve();
  await agent.waitRun(requested('hi'), undefined);
  const run = await reported();
  expect(run).toMatchObject({ input: null, output: { text: 'HI!' }, is_cut: false });
  expect(run.steps?.every(({ input, output }) => input === null && output !== null)).toBe(true);
});

test('exports a run that an earlier version put into the outbox', async () => {
  const { agent, databaseUrl } = await serve();
  collector.answers = 503;
  await agent.waitRun(requested('hi'), undefined);
  const storage = await openStorage(databaseUrl, 'test', silentLogger);
  atTheEnd.push(() => storage.close());
  await storage.db.updateTable('trace_outbox').set({ detail: null }).execute();
  collector.answers = 200;
  const run = await reported();
  expect(run).toMatchObject({ status: 'success' });
  expect(run).not.toHaveProperty('steps');
});
