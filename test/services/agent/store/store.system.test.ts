import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { ISO } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { rememberingAgent } from './remembering-agent.ts';

let agent: TemporaryAgent;
let serving: Serving;
let now = Date.now();
beforeAll(async () => {
  agent = rememberingAgent();
  serving = await serveAgent({ configPath: agent.configPath, clock: { ...systemClock, now: () => now } });
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

describe('the store, over HTTP', () => {
  const root = 'root';
  let client: Client;
  beforeAll(() => {
    client = new Client({ apiUrl: serving.url, apiKey: null, callerOptions: { maxRetries: 0 } });
  });
  const send = (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${serving.url}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const run = async (assistant: string, input: object): Promise<Record<string, unknown>> =>
    Object(await client.runs.wait(null, assistant, { input: { ...input } }));

  describe("the public service's own client", () => {
    test(
      'puts, gets, replaces and deletes items',
      { meta: { claims: ['agent.store.key-value', 'agent.groups.store'] } },
      async () => {
        const namespace = [root, 'items'];
        await client.store.putItem(namespace, 'k', { v: 1 });
        expect(await client.store.getItem(namespace, 'k')).toEqual({
          namespace,
          key: 'k',
          value: { v: 1 },
          created_at: expect.stringMatching(ISO),
          updated_at: expect.stringMatching(ISO),
          createdAt: expect.stringMatching(ISO),
          updatedAt: expect.stringMatching(ISO),
        });
        await client.store.putItem(namespace, 'k', { v: 2 }, { index: false });
        expect(await client.store.getItem(namespace, 'k')).toMatchObject({ value: { v: 2 } });
        await client.store.deleteItem(namespace, 'k');
        expect(await client.store.getItem(namespace, 'k')).toBeNull();
      },
    );

    test('is warned of a query, which is ignored', async () => {
      await client.store.putItem([root, 'meaning'], 'k', { v: 1 });
      const body = { namespace_prefix: [root, 'meaning'], query: 'what they like' };
      const response = await send('POST', '/store/items/search', body);
      expect(response.headers.get('warning')).toContain('query of a store search is ignored');
      expect(await response.json()).toMatchObject({ items: [{ key: 'k' }] });
      expect(serving.lines).toContainEqual(expect.stringContaining('query of a store search is ignored'));
    });

    test('searches by prefix and filter, page by page', async () => {
      for (const n of [1, 2, 3]) {
        now += 1;
        await client.store.putItem([root, 'search', String(n)], `k${n}`, { n });
      }
      const found = async (options?: Parameters<typeof client.store.searchItems>[1]) =>
        (await client.store.searchItems([root, 'search'], options)).items.map(({ key }) => key);
      expect(await found()).toEqual(['k3', 'k2', 'k1']);
      expect(await found({ filter: { n: { $gte: 2 } }, limit: 1, offset: 1 })).toEqual(['k2']);
      expect((await client.store.searchItems([root, 'search', '1'])).items).toMatchObject([{ key: 'k1' }]);
    });

    test('lists namespaces', async () => {
      await client.store.putItem([root, 'places', 'x'], 'k', {});
      await client.store.putItem([root, 'places', 'y', 'z'], 'k', {});
      expect(await client.store.listNamespaces({ prefix: [root, 'places'], maxDepth: 3 })).toEqual({
        namespaces: [
          [root, 'places', 'x'],
          [root, 'places', 'y'],
        ],
      });
      expect(await client.store.listNamespaces({ suffix: ['y', 'z'], prefix: [root] })).toMatchObject({
        namespaces: [[root, 'places', 'y', 'z']],
      });
    });

    test('sets an item’s time to live, which reading refreshes', async () => {
      const namespace = [root, 'short'];
      await client.store.putItem(namespace, 'read', {}, { ttl: 2 });
      await client.store.putItem(namespace, 'looked at', {}, { ttl: 2 });
      await client.store.putItem(namespace, 'for ever', {}, { ttl: null });
      now += 60_000;
      await client.store.getItem(namespace, 'read');
      await client.store.getItem(namespace, 'looked at', { refreshTtl: false });
      now += 60_000;
      const { items } = await client.store.searchItems(namespace, { refreshTtl: false });
      expect(items.map(({ key }) => key).sort()).toEqual(['for ever', 'read']);
      expect(await client.store.getItem(namespace, 'looked at')).toBeNull();
    });
  });

  test('responds as the public description says', async () => {
    const address = { namespace: [root, 'wire'], key: 'k' };
    const statuses = [
      await send('PUT', '/store/items', { ...address, value: {}, more: 1 }),
      await send('GET', `/store/items?namespace=${root}.wire&key=k`),
      await send('GET', `/store/items?namespace=${root}&namespace=wire&key=k`),
      await send('POST', '/store/items/search', { namespace_prefix: null, filter: null, query: null }),
      await send('POST', '/store/namespaces'),
      await send('DELETE', '/store/items', { key: 'k' }),
      await send('GET', `/store/items?namespace=${root}.wire&key=k&refresh_ttl=false`),
      await send('DELETE', '/store/items', address),
      await send('GET', `/store/items?namespace=${root}.wire&key=k`),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([204, 200, 200, 200, 200, 204, 200, 204, 200]);
    const bodies = await Promise.all(statuses.map((response) => response.text()));
    expect(JSON.parse(bodies[1] ?? '')).toMatchObject({ ...address, value: {} });
    expect(bodies[2]).toBe(bodies[1]);
    expect(bodies[6]).toBe(bodies[1]);
    expect([bodies[0], bodies[7], bodies[8]]).toEqual(['', '', 'null']);
  });

  test.each<[string, string, string, object | undefined, number, (string | number)[] | undefined]>([
    ['an empty namespace', 'PUT', '/items', { namespace: [], key: 'k', value: {} }, 422, ['body', 'namespace']],
    ['an empty label', 'PUT', '/items', { namespace: ['a', ''], key: 'k', value: {} }, 422, ['body', 'namespace']],
    ['a period in a label', 'PUT', '/items', { namespace: ['a.b'], key: 'k', value: {} }, 422, ['body', 'namespace']],
    [
      'the reserved root',
      'PUT',
      '/items',
      { namespace: ['langgraph'], key: 'k', value: {} },
      422,
      ['body', 'namespace'],
    ],
    ['no key', 'PUT', '/items', { namespace: ['a'], value: {} }, 422, ['body', 'key']],
    [
      'a key that is too long',
      'PUT',
      '/items',
      { namespace: ['a'], key: 'k'.repeat(2000), value: {} },
      422,
      ['body', 'key'],
    ],
    [
      'a value that is not an object',
      'PUT',
      '/items',
      { namespace: ['a'], key: 'k', value: [1] },
      422,
      ['body', 'value'],
    ],
    [
      'a time to live of zero',
      'PUT',
      '/items',
      { namespace: ['a'], key: 'k', value: {}, ttl: 0 },
      422,
      ['body', 'ttl'],
    ],
    [
      'an invalid label of a deleted item',
      'DELETE',
      '/items',
      { namespace: ['a.b'], key: 'k' },
      422,
      ['body', 'namespace'],
    ],
    ['no namespace to read from', 'GET', '/items?key=k', undefined, 400, undefined],
    ['an empty label to read', 'GET', '/items?namespace=a..b&key=k', undefined, 422, ['query', 'namespace']],
    ['no key to read', 'GET', '/items?namespace=a', undefined, 422, ['query', 'key']],
    [
      'a refresh that is not a boolean',
      'GET',
      '/items?namespace=a&key=k&refresh_ttl=so',
      undefined,
      422,
      ['query', 'refresh_ttl'],
    ],
    [
      'an unknown operator',
      'POST',
      '/items/search',
      { filter: { a: { $near: 1 } } },
      422,
      ['body', 'filter', 'a', '$near'],
    ],
    ['a page size of zero', 'POST', '/items/search', { limit: 0 }, 422, ['body', 'limit']],
    ['a depth of zero', 'POST', '/namespaces', { max_depth: 0 }, 422, ['body', 'max_depth']],
  ])(
    'rejects %s, and names the field',
    { meta: { claims: ['agent.errors.invalid-body'] } },
    async (_, method, path, body, status, loc) => {
      const response = await send(method, `/store${path}`, body);
      expect(response.status).toBe(status);
      const { detail } = Object(await response.json());
      expect(Array.isArray(detail) ? detail.map((problem) => problem.loc) : undefined).toEqual(loc && [loc]);
    },
  );

  describe('a graph', () => {
    test.each(['remembers', 'made'])('%s reads what the API wrote, and vice versa', async (graph) => {
      const user = `${root}-${graph}`;
      await client.store.putItem(['users', user], 'public', { kind: 'open' });
      await client.store.putItem(['users', user], 'hidden', { kind: 'secret' });
      const says = { kind: 'said', deep: { text: 'nul \0' } };
      expect(await run(graph, { user, says })).toMatchObject({
        heard: { value: says, isDate: true },
        found: expect.arrayContaining([
          { key: 'public', value: { kind: 'open' } },
          { key: 'last', value: says },
        ]),
        places: [['users', user]],
      });
      expect(await client.store.getItem(['users', user], 'last')).toMatchObject({ value: says });
    });

    test('finds what the previous run wrote, without a thread', async () => {
      const user = `${root}-again`;
      await run('remembers', { user, says: { n: 1 } });
      expect(await run('remembers', { user })).toMatchObject({ heard: { value: { n: 1 } } });
    });

    test('gets an error for an invalid request, and others do not', async () => {
      const user = `${root}-bad`;
      const [bad, good] = await Promise.all([
        run('remembers', { user, bad: true }).catch(String),
        run('remembers', { user, says: { fine: true } }),
      ]);
      expect(bad).toContain("store.put: a label of a namespace can't hold a period");
      expect(good).toMatchObject({ heard: { value: { fine: true } } });
    });
  });
});

describe('what the store holds', () => {
  test(
    'outlives the run and the revision that wrote it',
    { meta: { claims: ['agent.store.persistent'] } },
    async () => {
      const client = new Client({ apiUrl: serving.url, apiKey: null });
      await client.runs.wait(null, 'remembers', { input: { user: 'kept', says: { for: 'the next one' } } });
      await serving.rest();
      expect((await fetch(`${serving.url}/store/items?namespace=users.kept&key=last`)).status).toBe(503);
      await serving.wake('another-revision');
      expect(await client.store.getItem(['users', 'kept'], 'last')).toMatchObject({ value: { for: 'the next one' } });
      expect(await client.runs.wait(null, 'remembers', { input: { user: 'kept' } })).toMatchObject({
        heard: { value: { for: 'the next one' } },
      });
    },
  );
});
