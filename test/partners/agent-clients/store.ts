import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { expect, test, vi } from 'vitest';

/** Everything the client does with the store. */
export function storeOf(given: () => Client): void {
  test('putItem, getItem, searchItems, listNamespaces and deleteItem', async () => {
    const { store } = given();
    const root = randomUUID();
    const users = [root, 'users'];
    await store.putItem(users, 'ada', { age: 36, city: 'London' });
    await store.putItem(users, 'bea', { age: 20, city: 'Bern' }, { index: false, ttl: null });
    await store.putItem([root, 'teams', 'red'], 'size', { people: 2 });
    expect(await store.getItem(users, 'ada')).toMatchObject({
      namespace: users,
      key: 'ada',
      value: { age: 36, city: 'London' },
    });
    const keys = async (options: object) =>
      (await store.searchItems([root], options)).items.map(({ key }) => key).toSorted();
    expect(await keys({})).toEqual(['ada', 'bea', 'size']);
    expect(await keys({ filter: { city: 'Bern' } })).toEqual(['bea']);
    expect(await keys({ filter: { age: { $gte: 30 } }, refreshTtl: false })).toEqual(['ada']);
    expect(await keys({ limit: 1, offset: 2 })).toHaveLength(1);
    const spaces = async (options: object) => (await store.listNamespaces({ prefix: [root], ...options })).namespaces;
    expect(await spaces({})).toEqual([[root, 'teams', 'red'], users]);
    expect(await spaces({ suffix: ['red'] })).toEqual([[root, 'teams', 'red']]);
    expect(await spaces({ maxDepth: 2, limit: 1, offset: 1 })).toEqual([users]);
    await store.deleteItem(users, 'ada');
    expect(await store.getItem(users, 'ada')).toBeNull();
    expect(await keys({})).toEqual(['bea', 'size']);
  });

  test('an item is gone when its time is over', async () => {
    const { store } = given();
    const space = [randomUUID()];
    await store.putItem(space, 'brief', { here: true }, { ttl: 60 });
    expect(await store.getItem(space, 'brief', { refreshTtl: false })).toMatchObject({ value: { here: true } });
    // 0.01 minutes.
    await store.putItem(space, 'brief', { here: true }, { ttl: 0.01 });
    await vi.waitFor(async () => expect(await store.getItem(space, 'brief', { refreshTtl: false })).toBeNull(), 30_000);
  });

  test('what a graph keeps the client reads, and the other way round', async () => {
    const { store, runs } = given();
    const who = randomUUID();
    const come = async () => Reflect.get(Object(await runs.wait(null, 'keeper', { input: { who } })), 'seen');
    expect([await come(), await come()]).toEqual([1, 2]);
    expect(await store.getItem(['visits'], who)).toMatchObject({ value: { times: 2 } });
    await store.putItem(['visits'], who, { times: 9 });
    expect(await come()).toBe(10);
  });
}
