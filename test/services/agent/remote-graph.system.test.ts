import { Command, isGraphInterrupt, Send } from '@langchain/langgraph';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outer } from './agent/outer.ts';
import { serveAgent } from './serving.ts';
import type { Serving } from './serving.ts';

/** The graph engine's RemoteGraph client: it must behave as if the graph were local. */
describe('a remote graph behaves like a local one', () => {
  let serving: Serving;
  beforeAll(async () => {
    serving = await serveAgent();
  });
  afterAll(() => serving.close());
  const remote = (graphId: string) => new RemoteGraph({ graphId, url: serving.url });
  const onThread = async () => {
    const { thread_id } = await new Client({ apiUrl: serving.url, apiKey: null }).threads.create();
    return { configurable: { thread_id } };
  };

  const statusOf = async ({ configurable: { thread_id } }: Awaited<ReturnType<typeof onThread>>) =>
    (await new Client({ apiUrl: serving.url, apiKey: null }).threads.get(thread_id)).status;

  test('can be invoked, with a thread and without one', async () => {
    expect(await remote('echo').invoke({ input: 'Ada' })).toMatchObject({ output: 'hello Ada' });
    const config = await onThread();
    expect(await remote('echo').invoke({ input: 'Ada' }, config)).toMatchObject({ output: 'hello Ada' });
    expect(await remote('echo').getState(config)).toMatchObject({
      values: { output: 'hello Ada' },
      next: [],
      config: { configurable: { thread_id: config.configurable.thread_id, checkpoint_id: expect.any(String) } },
      metadata: { source: 'loop' },
      createdAt: expect.any(String),
    });
  });

  test('streams one mode or several, with its subgraphs', async () => {
    const chunksOf = async (graph: RemoteGraph, input: object, options: object) => {
      const chunks: unknown[] = [];
      for await (const chunk of await graph.stream(input, options)) chunks.push(chunk);
      return chunks;
    };
    const updates = await chunksOf(remote('echo'), { input: 'Ada' }, { streamMode: 'updates' });
    expect(updates.map((update) => Object.keys(Object(update))[0])).toEqual(['prepare', 'answer']);
    const several = await chunksOf(remote('echo'), { input: 'Ada' }, { streamMode: ['values', 'updates'] });
    expect(new Set(several.map((chunk) => Object(chunk)[0]))).toEqual(new Set(['values', 'updates']));
    const within = await chunksOf(remote('outer'), { word: 'a' }, { streamMode: ['custom'], subgraphs: true });
    expect(within).toEqual([[[expect.stringMatching(/^inside:/)], 'custom', { heard: 'a' }]]);
  });

  test('interrupts for a person, and resumes with a command', async () => {
    const config = await onThread();
    await expect(remote('interrupts').invoke({ request: 'dance' }, config)).rejects.toSatisfy(isGraphInterrupt);
    await expect.poll(() => statusOf(config)).toBe('interrupted');
    const state = await remote('interrupts').getState(config);
    expect(state.next).toEqual(['ask']);
    expect(state.tasks).toMatchObject([{ name: 'ask', interrupts: [{ value: { question: 'May I dance?' } }] }]);
    expect(await remote('interrupts').invoke(new Command({ resume: 'yes' }), config)).toMatchObject({
      answer: 'dance: yes',
    });
  });

  test('goes to a node with input for that node alone', async () => {
    const config = await onThread();
    await expect(remote('interrupts').invoke({ request: 'dance' }, config)).rejects.toSatisfy(isGraphInterrupt);
    await expect.poll(() => statusOf(config)).toBe('interrupted');
    const goto = new Send('ask', { request: 'sing' });
    await expect(remote('interrupts').invoke(new Command({ goto: [goto] }), config)).rejects.toThrow('May I sing?');
  });

  test('updates the state, and reads its history', async () => {
    const config = await onThread();
    await expect(remote('interrupts').invoke({ request: 'dance' }, config)).rejects.toSatisfy(isGraphInterrupt);
    await expect.poll(() => statusOf(config)).toBe('interrupted');
    const place = await remote('interrupts').updateState(config, { request: 'sing' }, 'think');
    expect(place.configurable).toMatchObject({ thread_id: config.configurable.thread_id });
    const states: unknown[] = [];
    for await (const { values } of remote('interrupts').getStateHistory(config)) states.push(values);
    expect(states[0]).toEqual({ request: 'sing' });
    expect(states.length).toBeGreaterThan(2);
    expect(await remote('interrupts').getState({ configurable: place.configurable ?? {} })).toMatchObject({
      values: { request: 'sing' },
    });
  });

  test('fails with the same error', async () => {
    await expect(remote('echo').invoke({ input: 'Ada', fail: 'no ink' })).rejects.toThrow('no ink');
    await expect(remote('nope').invoke({})).rejects.toThrow(/nope/);
  });

  test('streams the events of its third version', async () => {
    const kinds = ['lifecycle', 'checkpoints', 'values', 'updates', 'tasks'];
    // The client subscribes once the run has started, and gets only some events of a run that is over by then: this one
    // goes on until the client has them.
    const waiting = await remote('echo').streamEvents({ input: 'Ada', sleep_ms: 600_000 }, { version: 'v3' });
    const methods = new Set<string>();
    for await (const { method } of waiting) if (methods.add(method).size === kinds.length) break;
    waiting.abort();
    expect(methods).toEqual(new Set(kinds));
    const run = await remote('echo').streamEvents({ input: 'Ada' }, { version: 'v3' });
    expect(await run.output).toMatchObject({ output: 'hello Ada' });
  });

  test('is drawn, with its subgraphs', async () => {
    const { nodes, edges } = await remote('echo').getGraphAsync();
    expect(Object.keys(nodes).toSorted()).toEqual(['__end__', '__start__', 'answer', 'prepare']);
    expect(edges).toHaveLength(3);
    const drawn = await remote('outer').getGraphAsync({ xray: true });
    const there = await outer.getGraphAsync({ xray: true });
    expect(Object.keys(drawn.nodes)).toEqual(Object.keys(there.nodes));
    expect(drawn.edges.map(({ source, target }) => [source, target])).toEqual(
      there.edges.map(({ source, target }) => [source, target]),
    );
    const inside: string[] = [];
    for await (const [name] of remote('outer').getSubgraphsAsync()) inside.push(name);
    expect(inside).toEqual(['inside']);
  });
});
