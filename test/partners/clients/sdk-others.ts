import { randomUUID } from 'node:crypto';
import { expectSame, fieldOf, statusOfError } from './case.ts';
import { sdkCases } from './sdk.ts';

const hello = { input: { input: 'Ada' } };

/** Threads, assistants, the store and crons with the official client. */
export const sdkOtherCases = [
  ...sdkCases('`threads.create`, `get`, `update`, `copy`, `delete`', async ({ threads }) => {
    const { thread_id: id } = await threads.create({ threadId: randomUUID(), metadata: { by: 'sdk' } });
    expectSame(await statusOfError(threads.create({ threadId: id })), 409);
    expectSame((await threads.create({ threadId: id, ifExists: 'do_nothing' })).thread_id, id);
    await threads.update(id, { metadata: { more: true } });
    const { status, metadata } = await threads.get(id);
    expectSame([status, metadata?.['by'], metadata?.['more']], ['idle', 'sdk', true]);
    const copied = await threads.copy(id);
    expectSame(copied.thread_id === id, false);
    await threads.delete(id);
    expectSame(await statusOfError(threads.get(id)), 404);
  }),
  ...sdkCases('`threads.search` and `count`', async ({ runs, threads }) => {
    const of = randomUUID();
    for (const name of ['Ada', 'Bea']) {
      const { thread_id } = await threads.create({ metadata: { of, name } });
      await runs.wait(thread_id, 'greeter', { input: { input: name } });
    }
    const query = {
      metadata: { of },
      status: 'idle' as const,
      sortBy: 'updated_at' as const,
      sortOrder: 'desc' as const,
    };
    const found = await threads.search(query);
    expectSame(
      found.map(({ values }) => fieldOf(values, 'output')),
      ['hello Bea', 'hello Ada'],
    );
    expectSame((await threads.search({ ...query, limit: 1, offset: 1, select: ['metadata'] })).map(Object.keys), [
      ['metadata'],
    ]);
    expectSame(await threads.count({ metadata: { of } }), 2);
  }),
  ...sdkCases('`threads.getState`, `updateState`, `getHistory`', async ({ runs, threads }) => {
    const { thread_id: id } = await threads.create();
    await runs.wait(id, 'greeter', hello);
    const before = await threads.getState(id);
    await threads.updateState(id, { values: { output: 'changed' }, asNode: 'greet' });
    const outputOf = ({ values }: { values: unknown }) => fieldOf(values, 'output');
    expectSame(outputOf(await threads.getState(id)), 'changed');
    expectSame(outputOf(await threads.getState(id, before.checkpoint)), 'hello Ada');
    expectSame((await threads.getHistory(id)).map(outputOf).slice(0, 2), ['changed', 'hello Ada']);
  }),
  ...sdkCases('`threads.getHistory` with `before`', async ({ runs, threads }) => {
    const { thread_id: id } = await threads.create();
    await runs.wait(id, 'greeter', hello);
    const { checkpoint } = await threads.getState(id);
    const earlier = await threads.getHistory(id, { before: { configurable: checkpoint } });
    expectSame(
      earlier.map(({ next }) => next),
      [['greet'], ['__start__']],
    );
  }),
  ...sdkCases(
    '`threads.getState` with `select`',
    async ({ runs, threads }) => {
      const { thread_id: id } = await threads.create();
      await runs.wait(id, 'greeter', hello);
      // The types of version 1.12.1, by which this is checked, do not have it.
      const selected = { subgraphs: false, select: ['next', 'values.output'] };
      const state = await threads.getState(id, undefined, selected);
      expectSame(Object.keys(Object(state)).toSorted(), ['next', 'values']);
      expectSame(fieldOf(state, 'values'), { output: 'hello Ada' });
    },
    ['1.15.0'],
  ),
  ...sdkCases('`threads.create` with `supersteps`', async ({ threads }) => {
    const { thread_id: id } = await threads.create({
      graphId: 'greeter',
      supersteps: [
        { updates: [{ values: { input: 'Ada' }, asNode: '__start__' }] },
        { updates: [{ values: { output: 'from outside' }, asNode: 'greet' }] },
      ],
    });
    expectSame(fieldOf((await threads.getState(id)).values, 'output'), 'from outside');
  }),
  ...sdkCases('`assistants.create`, `get`, `update`, `delete`', async ({ assistants, runs }) => {
    const { assistant_id: id } = await assistants.create({
      graphId: 'greeter',
      name: 'one',
      context: { greeting: 'hi' },
    });
    expectSame(fieldOf(await runs.wait(null, id, hello), 'output'), 'hi Ada');
    await assistants.update(id, { context: { greeting: 'hey' } });
    expectSame(fieldOf(await runs.wait(null, id, hello), 'output'), 'hey Ada');
    expectSame((await assistants.get(id)).version, 2);
    await assistants.delete(id);
    expectSame(await statusOfError(assistants.get(id)), 404);
  }),
  ...sdkCases('`assistants.getVersions` and `setLatest`', async ({ assistants, runs }) => {
    const { assistant_id: id } = await assistants.create({ graphId: 'greeter', context: { greeting: 'hi' } });
    await assistants.update(id, { context: { greeting: 'hey' } });
    expectSame(
      (await assistants.getVersions(id)).map(({ version }) => version),
      [2, 1],
    );
    await assistants.setLatest(id, 1);
    expectSame(fieldOf(await runs.wait(null, id, hello), 'output'), 'hi Ada');
  }),
  ...sdkCases('`assistants.search` and `count`', async ({ assistants }) => {
    const of = randomUUID();
    for (const name of ['one', 'two']) await assistants.create({ graphId: 'greeter', name, metadata: { of } });
    expectSame((await assistants.search({ graphId: 'greeter', metadata: { of } })).length, 2);
    expectSame(await assistants.count({ metadata: { of } }), 2);
  }),
  ...sdkCases('`assistants.getGraph` and `getSubgraphs`', async ({ assistants }) => {
    expectSame((await assistants.getGraph('outer', { xray: true })).nodes.length, 4);
    expectSame(Object.keys(await assistants.getSubgraphs('outer')), ['inside']);
  }),
  ...sdkCases('`assistants.getSchemas`', async ({ assistants }) => {
    const { input_schema } = await assistants.getSchemas('greeter');
    expectSame(Object.keys(input_schema?.properties ?? {}).toSorted(), ['fail', 'input', 'output']);
  }),
  ...sdkCases('`store`: put, get, search, delete, namespaces', async ({ store }) => {
    const of = randomUUID();
    await store.putItem([of, 'notes'], 'one', { text: 'first', kind: 'a' });
    await store.putItem([of, 'notes'], 'two', { text: 'second', kind: 'b' });
    expectSame((await store.getItem([of, 'notes'], 'one'))?.value, { text: 'first', kind: 'a' });
    const { items } = await store.searchItems([of], { filter: { kind: 'b' } });
    expectSame(
      items.map(({ key }) => key),
      ['two'],
    );
    expectSame((await store.listNamespaces({ prefix: [of] })).namespaces, [[of, 'notes']]);
    await store.deleteItem([of, 'notes'], 'one');
    const left = await store.searchItems([of]);
    expectSame(left.items.length, 1);
  }),
  ...sdkCases('`crons`: create, search, delete', async ({ crons }) => {
    const { cron_id } = await crons.create('greeter', { schedule: '0 0 1 1 *', ...hello });
    expectSame(
      (await crons.search({ limit: 1000 })).some((cron) => cron.cron_id === cron_id),
      true,
    );
    await crons.delete(cron_id);
    expectSame(
      (await crons.search({ limit: 1000 })).some((cron) => cron.cron_id === cron_id),
      false,
    );
  }),
];
