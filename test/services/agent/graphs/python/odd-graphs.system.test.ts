import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { describePython } from '../../../../python/needs-python.ts';
import { startCollector, type Collector } from '../../tracing/collector.ts';
import { serveAgent, type Serving } from '../../serving.ts';
import { temporaryAgent } from '../../temporary-agent.ts';

/** The graph of the next revision, whose module has another name. */
const laterGraph = `
from typing import Any, TypedDict
from langgraph.graph import StateGraph

class State(TypedDict):
    said: Any

graph = StateGraph(State).add_node('note', lambda state: {}).add_edge('__start__', 'note').compile()
`;

describePython('graphs in Python', (python) => {
  let serving: Serving;
  let client: Client;
  let collector: Collector;
  beforeAll(async () => {
    collector = await startCollector();
    const tracing = { url: collector.url, token: collector.token };
    const configPath = join(import.meta.dirname, 'agent/odd.json');
    serving = await serveAgent({ configPath, python, revisionId: 'one', tracing });
    client = new Client({ apiUrl: serving.url, apiKey: null });
  });
  afterAll(async () => {
    await serving?.close();
    await collector?.close();
  });
  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  /** A file that a graph looks for, in a folder of the test. */
  async function newFile(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'odd-graphs-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    return join(folder, 'file');
  }

  /** A run that ends its process so many times, with its steps or its error. */
  async function runWithDeaths(kills: number): Promise<unknown> {
    const input = { kills, counted_in: await newFile() };
    return client.runs.wait(await newThread(), 'dies', { input, raiseError: false });
  }

  test('go on from the last checkpoint after their process was killed', async () => {
    expect(await runWithDeaths(1)).toMatchObject({ steps: ['first', 'survived'] });
  });

  test('end with the reason once they have ended three processes', async () => {
    expect(await runWithDeaths(3)).toMatchObject({
      __error__: {
        error: 'WorkerGone',
        message: expect.stringMatching(
          /^The Python process of the agent was ended by SIGKILL\.[^\n]*\nIts last lines:\n[^]*the last words/,
        ),
      },
    });
  });

  test('end no other run by that', async () => {
    const file = await newFile();
    const thread = await newThread();
    const { run_id } = await client.runs.create(thread, 'waits', { input: { counted_in: file } });
    expect(await runWithDeaths(3)).toMatchObject({ __error__: { error: 'WorkerGone' } });
    await writeFile(file, '');
    expect(await client.runs.join(thread, run_id)).toMatchObject({ steps: ['waited'] });
  });

  test('that block hold up neither the states nor the runs of other requests for long', async () => {
    const thread = await newThread();
    const { run_id } = await client.runs.create(thread, 'blocks', { input: { seconds: 3_600 } });
    await expect.poll(() => serving.lines.join('\n')).toContain('Node "block" blocks the event loop');
    expect(serving.lines.join('\n')).toMatch(/at \S*odd\.py:\d+ in block: other runs wait/);
    expect(await client.threads.getState(thread)).toMatchObject({ values: expect.anything() });
    await client.runs.cancel(thread, run_id, true);
    expect(await client.runs.get(thread, run_id)).toMatchObject({ status: 'interrupted' });
    expect(await client.runs.wait(null, 'made', { input: {} })).toMatchObject({ said: expect.anything() });
  });

  test('fail with their error and what caused it', async () => {
    const failed = await client.runs.wait(null, 'fails', { input: {}, raiseError: false });
    expect(failed).toEqual({
      __error__: {
        error: 'ValueError',
        message: 'no answer\nCaused by: ConnectionError: no line',
        causes: [{ error: 'ConnectionError' }],
      },
    });
    const [line = ''] = serving.lines.filter((each) => each.includes('ValueError: no answer'));
    expect(line).toMatch(/failed: ValueError: no answer\nTraceback [^]*odd\.py", line \d+, in fail/);
    expect(line).not.toContain('landfall_worker');
  });

  /** The exported steps of the only run of a graph. */
  async function stepsOf(graphId: string): Promise<unknown> {
    const ofGraph = () => collector.runs.find(({ graph_id }) => graph_id === graphId);
    await expect.poll(ofGraph).toBeDefined();
    return ofGraph()?.steps;
  }

  test.each(['values', 'events'] as const)('report each execution of a node in the mode %s', async (mode) => {
    const graph = `nested_${mode}`;
    const parts = client.runs.stream(null, graph, { input: { said: 'tea' }, streamMode: mode });
    expect(JSON.stringify(await Array.fromAsync(parts))).not.toContain('StepReporter');
    const step = { error: null, is_cut: false, ended_at: expect.any(String), input: { said: 'tea' } };
    expect(await stepsOf(graph)).toMatchObject([
      { ...step, name: 'inner', path: [], output: { steps: ['first'] } },
      { ...step, name: 'first', path: ['inner'], output: { steps: ['first'] } },
      { name: 'refuse', output: null, error: 'ValueError: no answer' },
    ]);
  });

  test('show the channels of their output schema alone', async () => {
    const thread = await newThread();
    const parts = await Array.fromAsync(
      client.runs.stream(thread, 'shows', { input: {}, streamMode: ['values', 'updates'] }),
    );
    const shown = parts.filter(({ event }) => ['values', 'updates'].includes(event));
    expect(JSON.stringify(shown)).not.toContain('steps');
    expect(shown.at(-1)?.data).toEqual({ said: { text: 'kept' } });
    expect(await client.threads.getState(thread)).toMatchObject({ values: { steps: ['first'] } });
  });

  test('tell clients the version of their engine', async () => {
    const info: unknown = await (await fetch(`${serving.url}/info`)).json();
    expect(info).toMatchObject({ langgraph_py_version: expect.stringMatching(/^\d+\.\d+\./) });
    expect(info).not.toHaveProperty('context');
  });

  test('use the store of the deployment', async () => {
    expect(await client.runs.wait(null, 'remembers', { input: {} })).toMatchObject({
      said: [{ name: 'Ann' }, ['Ann'], [['users', 'ann']], null],
    });
    expect(await client.store.getItem(['users', 'ann'], 'name')).toMatchObject({ value: { name: 'Ann' } });
    expect(serving.lines).toContain('remembered');
  });

  test('are made by a factory that learns why it is called', async () => {
    const config = { configurable: { who: 'me' } };
    const thread = await newThread();
    expect(await client.runs.wait(thread, 'made', { input: {}, config, context: { a: 1 } })).toMatchObject({
      said: ['threads.create_run', 'me', { a: 1 }],
    });
    const { nodes } = await client.assistants.getGraph('made');
    expect(nodes.map(({ id }) => id)).toEqual(['__start__', 'see', '__end__']);
  });

  test('say which channel has a type that is gone, and keep the thread', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'notes', { input: {} });
    expect((await client.threads.getState(thread)).values).toMatchObject({ said: { text: 'kept' } });
    const later = temporaryAgent({
      'langgraph.json': { dependencies: ['.'], graphs: { notes: './later.py:graph' } },
      'later.py': laterGraph,
    });
    onTestFinished(() => later.remove());
    const { databaseUrl } = serving;
    const next = await serveAgent({ configPath: later.configPath, python, databaseUrl, revisionId: 'two' });
    onTestFinished(() => next.close());
    const state = await fetch(`${next.url}/threads/${thread}/state`);
    expect([state.status, await state.json()]).toEqual([
      409,
      {
        detail:
          "Channel 'said' of the thread holds a value of type odd.Note, written by revision one, which can't be imported here: " +
          "ModuleNotFoundError: No module named 'odd'. Bring the type back under that name, or begin another thread.",
      },
    ]);
    const asked = await fetch(`${serving.url}/threads/${thread}/runs/wait`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'notes', command: { resume: 'yes' } }),
    });
    expect(await asked.json()).toMatchObject({ steps: ['yes'], said: { text: 'kept' } });
  });
});
