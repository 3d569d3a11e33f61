import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { refusalOf } from './deployed.ts';

/** All methods of the client for assistants. */
export function assistantsOf(given: () => Client): void {
  const greeting = async (assistant: string) =>
    Reflect.get(Object(await given().runs.wait(null, assistant, { input: { input: 'you' } })), 'output');

  test('create, get, search, count and delete', async () => {
    const { assistants } = given();
    const id = randomUUID();
    const made = await assistants.create({
      graphId: 'greeter',
      assistantId: id,
      name: 'Polite',
      description: 'says good day',
      context: { greeting: 'good day' },
      config: { recursion_limit: 7 },
      metadata: { by: 'sdk' },
    });
    expect(made).toMatchObject({
      assistant_id: id,
      graph_id: 'greeter',
      version: 1,
      name: 'Polite',
      description: 'says good day',
      context: { greeting: 'good day' },
      config: { recursion_limit: 7 },
      metadata: { by: 'sdk' },
    });
    expect(await assistants.get(id)).toEqual(made);
    expect(await greeting(id)).toBe('good day you');
    expect(await refusalOf(assistants.create({ graphId: 'greeter', assistantId: id }))).toMatchObject({ status: 409 });
    expect(await assistants.create({ graphId: 'greeter', assistantId: id, ifExists: 'do_nothing' })).toEqual(made);
    expect(await assistants.search({ metadata: { by: 'sdk' } })).toEqual([made]);
    expect(await assistants.count({ metadata: { by: 'sdk' }, graphId: 'greeter', name: 'polite' })).toBe(1);
    const second = await assistants.create({ graphId: 'greeter', name: 'Rude', metadata: { by: 'sdk' } });
    const page = await assistants.search({
      metadata: { by: 'sdk' },
      limit: 1,
      sortBy: 'created_at',
      sortOrder: 'desc',
      select: ['assistant_id', 'name'],
      includePagination: true,
    });
    expect(page).toEqual({ assistants: [{ assistant_id: second.assistant_id, name: 'Rude' }], next: '1' });
    await assistants.delete(second.assistant_id);
    await assistants.delete(id);
    expect(await refusalOf(assistants.get(id))).toMatchObject({ status: 404 });
    expect(await refusalOf(greeting(id))).toMatchObject({ status: 404 });
    expect(await assistants.count({ metadata: { by: 'sdk' } })).toBe(0);
  });

  test('update, getVersions and setLatest change the assistant, and back', async () => {
    const { assistants } = given();
    const { assistant_id: id } = await assistants.create({ graphId: 'greeter', context: { greeting: 'one' } });
    expect(await assistants.update(id, { name: 'Two', context: { greeting: 'two' } })).toMatchObject({
      version: 2,
      name: 'Two',
      context: { greeting: 'two' },
    });
    expect(await greeting(id)).toBe('two you');
    const versions = await assistants.getVersions(id, { limit: 10 });
    expect(versions.map(({ version, context }) => [version, context])).toEqual([
      [2, { greeting: 'two' }],
      [1, { greeting: 'one' }],
    ]);
    expect(await assistants.setLatest(id, 1)).toMatchObject({ version: 1, context: { greeting: 'one' } });
    expect(await greeting(id)).toBe('one you');
    expect(await refusalOf(assistants.setLatest(id, 3))).toMatchObject({ status: 404 });
    expect(await greeting(id)).toBe('one you');
  });

  test('delete removes its threads on request', async () => {
    const { assistants, threads, runs } = given();
    const { assistant_id: id } = await assistants.create({ graphId: 'greeter' });
    const { thread_id } = await threads.create();
    await runs.wait(thread_id, id, { input: { input: 'you' } });
    await assistants.delete(id, { deleteThreads: true });
    expect(await refusalOf(threads.get(thread_id))).toMatchObject({ status: 404 });
  });

  test('getGraph, getSchemas and getSubgraphs describe a graph', async () => {
    const { assistants } = given();
    const drawn = await assistants.getGraph('outer', { xray: true });
    expect(drawn.nodes.map(({ id }) => id)).toContain('inside:shout');
    expect((await assistants.getGraph('outer')).nodes.map(({ id }) => id)).toContain('inside');
    expect(await assistants.getSchemas('greeter')).toMatchObject({
      graph_id: 'greeter',
      input_schema: { properties: { input: {} } },
      context_schema: { properties: { greeting: { type: 'string' } } },
    });
    const inside = await assistants.getSubgraphs('outer', { recurse: true });
    expect(inside).toMatchObject({ inside: { state_schema: { properties: { word: {} } } } });
    expect(await assistants.getSubgraphs('outer', { namespace: 'inside' })).toEqual(inside);
  });
}
