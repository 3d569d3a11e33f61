import { silentLogger } from '../../../../src/kit/logger.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GraphStore } from '../../../../src/services/agent/store/graph-store.ts';
import { itemStore } from '../../../../src/services/agent/store/items.ts';
import { openStorage } from '../../../../src/services/agent/storage/open.ts';
import type { Storage } from '../../../../src/services/agent/storage/open.ts';
import { loggerTo } from '../../../logger.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';

let postgres: TestPostgres;
let storage: Storage;
let store: GraphStore;
const lines: string[] = [];
let now = Date.parse('2026-11-21T06:00:00Z');
beforeAll(async () => {
  postgres = await startTestPostgres();
  storage = await openStorage(postgres.url, randomUUID(), silentLogger);
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const settings = { defaultTtl: undefined, refreshOnRead: false, sweepEveryMs: 60_000 };
  store = new GraphStore({
    items: itemStore(storage, clock, settings),
    semanticIndex: undefined,
    log: loggerTo((line) => lines.push(line)),
  });
});
afterAll(async () => {
  await storage.close();
  await postgres.stop();
});
beforeEach(async () => {
  await storage.pool.query('delete from store_items');
});

describe('the store of a graph', () => {
  test('ignores the query of a search with a warning', async () => {
    await store.put(['a'], 'k', { v: 1 });
    expect(await store.search(['a'], { query: 'what they like' })).toMatchObject([{ key: 'k' }]);
    expect(lines.at(-1)).toContain('query of a store search is ignored');
  });

  test("executes the engine's operations one after the other", async () => {
    const namespace = ['a', 'b'];
    const results = await store.batch([
      { namespace, key: 'k', value: { v: 1 } },
      { namespace, key: 'k' },
      { namespacePrefix: ['a'], filter: { v: { $lt: 2 } }, limit: 10, offset: 0 },
      { matchConditions: [{ matchType: 'prefix', path: ['a'] }], maxDepth: 1, limit: 10, offset: 0 },
      { matchConditions: undefined, limit: 10, offset: 0 },
      { namespace, key: 'k', value: null },
      { namespace, key: 'k' },
    ]);
    const item = { namespace, key: 'k', value: { v: 1 }, createdAt: new Date(now), updatedAt: new Date(now) };
    expect(results).toEqual([undefined, item, [item], [['a']], [namespace], undefined, null]);
  });

  test("stores an item's time to live, and refreshes it only on request", async () => {
    await store.put(['a'], 'short', {}, undefined, { ttl: 2 });
    await store.put(['a'], 'seen', {}, undefined, { ttl: 2 });
    now += 60_000;
    expect(await store.search(['a'], { filter: { none: { $exists: false } }, limit: 1, offset: 0 })).toHaveLength(1);
    await store.search(['a'], { limit: 1, offset: 0, refreshTtl: true });
    now += 60_000;
    expect(await store.search(['a'])).toHaveLength(1);
  });

  test.each<[string, () => Promise<unknown>, string]>([
    [
      'a value that is not an object',
      () => store.batch([{ namespace: ['a'], key: 'k', value: 'text' }]),
      'must be an object',
    ],
    ['a missing value', () => store.batch([{ namespace: ['a'], key: 'k', value: undefined }]), 'an object'],
    [
      'a value that serializes to a string',
      () => store.put(['a'], 'k', { toJSON: () => 'text' }),
      'become a JSON object',
    ],
    ['a time to live of zero', () => store.put(['a'], 'k', {}, undefined, { ttl: 0 }), 'more than 0'],
    ['a namespace that is a string', () => store.batch([{ namespace: 'a', key: 'k' }]), 'list of strings'],
    ['an empty key', () => store.delete(['a'], ''), "can't be empty"],
    ['an unknown operator', () => store.search(['a'], { filter: { v: { $near: 1 } } }), 'filter.v.$near is no'],
    ['a filter that is a list', () => store.batch([{ namespacePrefix: ['a'], filter: [1] }]), 'must be an object'],
    [
      'an unknown match type',
      () => store.batch([{ matchConditions: [{ matchType: 'like', path: [] }] }]),
      'prefix and suffix',
    ],
    ['an empty label of a prefix', () => store.listNamespaces({ prefix: [''] }), "can't be empty"],
  ])('rejects %s with a clear message', async (_, call, words) => {
    await expect(call()).rejects.toMatchObject({
      name: 'StoreCallError',
      message: expect.stringMatching(/^store\.(get|put|delete|search|listNamespaces): /),
    });
    await expect(call()).rejects.toThrow(words);
  });
});
