import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

let serving: Serving;
let client: Client;
beforeAll(async () => {
  serving = await serveAgent();
  client = new Client({ apiUrl: serving.url, apiKey: null });
});
afterAll(() => serving.close());

describe("the public service's own client", () => {
  const answers = async (assistant: string) =>
    Object(await client.runs.wait(null, assistant, { input: { input: 'you' } }))['output'];

  test('updates an assistant, lists its versions and rolls back', async () => {
    const first = await client.assistants.create({ graphId: 'echo', name: 'A', context: { greeting: 'hey' } });
    const id = first.assistant_id;
    const second = await client.assistants.update(id, {
      graphId: 'echo',
      name: 'B',
      description: 'other',
      context: { greeting: 'hi' },
      config: { recursion_limit: 9 },
      metadata: { by: 'client' },
    });
    expect(second).toMatchObject({ version: 2, name: 'B', description: 'other', metadata: { by: 'client' } });
    expect(await answers(id)).toBe('hi you');
    expect((await client.assistants.getVersions(id)).map(({ version }) => version)).toEqual([2, 1]);
    expect(await client.assistants.getVersions(id, { metadata: { by: 'client' }, limit: 1 })).toMatchObject([
      { version: 2, context: { greeting: 'hi' } },
    ]);
    expect(await client.assistants.setLatest(id, 1)).toEqual({ ...first, updated_at: expect.any(String) });
    expect(await answers(id)).toBe('hey you');
    await expect(client.assistants.setLatest(id, 9)).rejects.toThrow('404');
  });

  test('searches page by page, sorted and selected', async () => {
    for (const name of ['p1', 'p2', 'p3']) {
      await client.assistants.create({ graphId: 'echo', name, metadata: { list: 'pages' } });
    }
    const query = { metadata: { list: 'pages' }, sortBy: 'name', sortOrder: 'asc', limit: 2 } as const;
    const page = await client.assistants.search({ ...query, includePagination: true });
    expect(page.assistants.map(({ name }) => name)).toEqual(['p1', 'p2']);
    expect(page.next).toBe('2');
    const last = await client.assistants.search({ ...query, offset: Number(page.next), includePagination: true });
    expect([last.assistants.map(({ name }) => name), last.next]).toEqual([['p3'], null]);
    expect(await client.assistants.search({ ...query, name: 'P2', select: ['name', 'graph_id'] })).toEqual([
      { name: 'p2', graph_id: 'echo' },
    ]);
    expect(await client.assistants.count({ metadata: { list: 'pages' }, name: 'P' })).toBe(3);
  });

  test('draws a graph', async () => {
    const { nodes, edges } = await client.assistants.getGraph('interrupts', { xray: true });
    expect(nodes.map(({ id }) => id)).toEqual(['__start__', 'think', 'ask', '__end__']);
    expect(edges.map(({ source, target }) => `${source} ${target}`).toSorted()).toEqual([
      '__start__ think',
      'ask __end__',
      'think ask',
    ]);
  });

  test('reads the schemas of a graph and its subgraphs', async () => {
    expect(await client.assistants.getSchemas('toned')).toMatchObject({
      graph_id: 'toned',
      context_schema: { properties: { tone: { enum: ['warm', 'cold'] } } },
    });
    const inside = await client.assistants.getSubgraphs('outer');
    expect(inside).toMatchObject({ inside: { state_schema: { properties: { word: {} } } } });
    expect(await client.assistants.getSubgraphs('outer', { namespace: 'inside', recurse: true })).toEqual(inside);
  });

  test('deletes an assistant with its threads', async () => {
    const { assistant_id } = await client.assistants.create({ graphId: 'echo' });
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, assistant_id, { input: { input: 'x' } });
    await client.assistants.delete(assistant_id, { deleteThreads: true });
    await expect(client.threads.get(thread_id)).rejects.toThrow('404');
    await expect(client.assistants.getVersions(assistant_id)).rejects.toThrow('404');
  });
});
