import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { Client as Postgres } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { serveAgent, type Serving } from '../serving.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { searchableAgent } from './searchable-agent.ts';

let agent: TemporaryAgent;
let serving: Serving;
let client: Client;
let now = Date.now();
beforeAll(async () => {
  agent = searchableAgent({ fields: ['text'] });
  serving = await serveAgent({ configPath: agent.configPath, clock: { ...systemClock, now: () => now } });
  client = new Client({ apiUrl: serving.url, apiKey: null, callerOptions: { maxRetries: 0 } });
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

const send = (method: string, path: string, body: object): Promise<Response> =>
  fetch(`${serving.url}/store${path}`, { method, body: JSON.stringify(body) });
const found = async (namespace: string[], options: Parameters<Client['store']['searchItems']>[1]) =>
  (await client.store.searchItems(namespace, options)).items.map(({ key, score }) => [key, score]);
const about = (number: number) => expect.closeTo(number, 5);

describe('a search with a query', () => {
  const root = ['root', 'search'];
  beforeAll(async () => {
    await client.store.putItem([...root, 'a'], 'tea', { text: 'tea and tea', kind: 'drink' });
    await client.store.putItem([...root, 'b'], 'both', { text: 'tea or coffee', kind: 'drink' });
    await client.store.putItem([...root, 'b'], 'sea', { text: 'the sea', kind: 'place' });
    await client.store.putItem([...root, 'b'], 'unlike', { text: 'nothing of all', kind: 'place' });
    await client.store.putItem([...root, 'b'], 'hidden', { text: 'tea' }, { index: false });
    await client.store.putItem(['root', 'other'], 'elsewhere', { text: 'tea' });
  });

  test('finds the most similar items of the namespace first, with their scores', async () => {
    const response = await send('POST', '/items/search', { namespace_prefix: root, query: 'tea, please' });
    expect(response.headers.has('warning')).toBe(false);
    const { items } = Object(await response.json());
    expect(items.map(({ key, score }: { key: string; score: number }) => [key, score])).toEqual([
      ['tea', 1],
      ['both', about(Math.SQRT1_2)],
      ['sea', 0],
      ['unlike', 0],
    ]);
    expect(items[0]).toMatchObject({ namespace: [...root, 'a'], value: { text: 'tea and tea', kind: 'drink' } });
  });

  test('applies filters, limit and offset as without one', async () => {
    const filter = { kind: 'drink' };
    expect(await found(root, { query: 'coffee', filter })).toEqual([
      ['both', about(Math.SQRT1_2)],
      ['tea', 0],
    ]);
    expect(await found(root, { query: 'coffee', filter, limit: 1, offset: 1 })).toEqual([['tea', 0]]);
    expect(await found([...root, 'a'], { query: 'coffee' })).toEqual([['tea', 0]]);
  });

  test('has no scores where it is empty', async () => {
    const { items } = await client.store.searchItems([...root, 'a'], { query: '' });
    expect(items).toMatchObject([{ key: 'tea' }]);
    expect(items[0]).not.toHaveProperty('score');
  });

  test('fails if the query can’t be embedded', async () => {
    const response = await send('POST', '/items/search', { query: 'break' });
    expect([response.status, await response.json()]).toEqual([
      502,
      { detail: '`store.index.embed` threw an error. Check its code; the log has errors that it threw.' },
    ]);
    expect(serving.lines).toContainEqual(expect.stringContaining('the model broke'));
  });
});

describe('an item', () => {
  test('counts with the best of its texts, at the paths of its own', async () => {
    const namespace = ['root', 'paths'];
    const value = { text: 'tea', items: [{ text: 'coffee coffee' }, { text: 'sea' }] };
    await client.store.putItem(namespace, 'list', value, { index: ['items[*].text'] });
    await client.store.putItem(namespace, 'last', value, { index: ['items[-1]'] });
    expect(await found(namespace, { query: 'coffee' })).toEqual([
      ['list', 1],
      ['last', 0],
    ]);
    expect(await found(namespace, { query: 'sea sea' })).toEqual([
      ['last', 1],
      ['list', 1],
    ]);
  });

  test('is found by what it says now', async () => {
    const namespace = ['root', 'now'];
    await client.store.putItem(namespace, 'k', { text: ['sea', 'tea'] }, { index: ['text[*]'] });
    now += 1;
    await client.store.putItem(namespace, 'k', { text: 'coffee' });
    expect(await found(namespace, { query: 'tea' })).toEqual([['k', 0]]);
    now += 1;
    await client.store.putItem(namespace, 'k', { text: 'coffee' }, { index: false });
    expect(await found(namespace, { query: 'coffee' })).toEqual([]);
    expect(await found(namespace, {})).toEqual([['k', undefined]]);
    await client.store.putItem(namespace, 'k', { text: 'tea' });
    await client.store.deleteItem(namespace, 'k');
    expect(await found(namespace, { query: 'tea' })).toEqual([]);
  });

  test('is no longer found after its time, which finding it restarts', async () => {
    const namespace = ['root', 'short'];
    await client.store.putItem(namespace, 'k', { text: 'tea' }, { ttl: 2 });
    for (const refreshTtl of [true, false]) {
      now += 60_000;
      expect(await found(namespace, { query: 'tea', refreshTtl })).toEqual([['k', 1]]);
    }
    now += 60_000;
    expect(await found(namespace, { query: 'tea' })).toEqual([]);
  });

  test('is kept as it was if its text can’t be embedded', async () => {
    const address = { namespace: ['root', 'broken'], key: 'k' };
    await client.store.putItem(address.namespace, 'k', { text: 'tea' });
    const statuses = [
      await send('PUT', '/items', { ...address, value: { text: 'break' } }),
      await send('PUT', '/items', { ...address, key: 'new', value: { text: 'break' } }),
      await send('PUT', '/items', { ...address, key: 'plain', value: { text: 'break' }, index: false }),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([502, 502, 204]);
    const kept = await client.store.searchItems(address.namespace);
    expect(kept.items.map(({ key }) => key).sort()).toEqual(['k', 'plain']);
    expect(await found(address.namespace, { query: 'tea' })).toEqual([['k', 1]]);
  });

  test.each<[string, object]>([
    ['a malformed path', { index: ['a..b'] }],
    ['a word', { index: 'text' }],
    ['true', { index: true }],
    [
      'more texts than an item may have',
      { value: { text: Array.from({ length: 1001 }, (_, n) => String(n)) }, index: ['text[*]'] },
    ],
  ])('with an index of %s is refused', async (_, more) => {
    const response = await send('PUT', '/items', { namespace: ['root', 'bad'], key: 'k', value: {}, ...more });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail: [{ loc: expect.arrayContaining(['body']) }] });
  });

  test('of concurrent writes is found by the one that is kept', async () => {
    const [namespace, texts] = [
      ['root', 'race'],
      ['tea', 'coffee', 'sea'],
    ];
    await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        client.store.putItem(namespace, 'k', { text: texts.slice(0, (n % 3) + 1) }, { index: ['text[*]'] }),
      ),
    );
    const kept = (await client.store.getItem(namespace, 'k'))?.value['text'];
    const scores = await Promise.all(texts.map(async (query) => (await found(namespace, { query }))[0]?.[1]));
    expect(texts.filter((_, at) => scores[at] === 1)).toEqual(kept);
  });
});

describe('a graph', () => {
  const run = async (input: object): Promise<unknown> => {
    const body = JSON.stringify({ assistant_id: 'searches', input });
    return (await fetch(`${serving.url}/runs/wait`, { method: 'POST', body })).json();
  };

  test('finds by meaning what it and others wrote', async () => {
    await client.store.putItem(['graph'], 'other', { text: 'coffee' });
    const says = { tea: { text: 'tea' }, sea: { text: 'sea' } };
    expect(await run({ says, query: 'tea' })).toMatchObject({
      found: [
        { key: 'tea', score: 1 },
        { key: 'other', score: 0 },
        { key: 'sea', score: 0 },
      ],
    });
    const own = { own: { at: ['tea', 'sea coffee'] }, tea: { text: 'tea' } };
    expect(await run({ says: own, index: ['at[*]'], query: 'sea and coffee' })).toMatchObject({
      found: [{ key: 'own', score: about(1) }, { key: 'other' }, { key: 'sea' }],
    });
  });

  test.each<[string, object, RegExp]>([
    ['its text can’t be embedded', { says: { bad: { text: 'break' } } }, /^`store\.index\.embed` threw an error\./],
    ['its query can’t be embedded', { query: 'break' }, /^`store\.index\.embed` threw an error\./],
    ['its index is no list of paths', { says: { bad: {} }, index: 'text' }, /^store\.put: index must be false or a/],
  ])('gets an error if %s', async (_, input, message) => {
    expect(await run(input)).toMatchObject({ __error__: { message: expect.stringMatching(message) } });
    expect(await client.store.getItem(['graph'], 'bad')).toBeNull();
  });
});

describe('a search of items that others wrote', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = new Postgres(serving.databaseUrl);
    await postgres.connect();
  });
  afterAll(() => postgres.end());

  test('skips what was written without an index until it is written again', async () => {
    const namespace = ['root', 'before'];
    await client.store.putItem(namespace, 'k', { text: 'tea' });
    // As a revision without an index writes it.
    await postgres.query("update store_items set updated_at = updated_at + interval '1 ms' where namespace = $1", [
      namespace,
    ]);
    expect(await found(namespace, { query: 'tea' })).toEqual([]);
    await client.store.putItem(namespace, 'k', { text: 'sea' });
    expect(await found(namespace, { query: 'sea' })).toEqual([['k', 1]]);
  });

  test('compares the last ten thousand, with a warning', async () => {
    const namespace = ['root', 'many'];
    await postgres.query(
      `with items as (
         insert into store_items (namespace, key, value, created_at, updated_at)
         select $1, n, '{}', now(), now() + n * interval '1 ms' from generate_series(1, 10001) as n returning *
       )
       insert into store_vectors (namespace, key, position, written_at, dims, embedding)
       select namespace, key, 1, updated_at, 3, case key when '1' then '{1,0,0}'::real[] else '{0,1,0}' end from items`,
      [namespace],
    );
    const body = { namespace_prefix: namespace, query: 'tea', limit: 2 };
    const response = await send('POST', '/items/search', body);
    expect(response.headers.get('warning')).toContain('compared as many vectors as it may');
    expect(await response.json()).toMatchObject({ items: [{ key: '10001' }, { key: '10000' }] });
    expect(serving.lines).toContainEqual(expect.stringContaining('compared as many vectors as it may'));
  });
});

test('an embedding of another length than configured is refused, with both', async () => {
  const other = searchableAgent({ dims: 4 });
  const wrong = await serveAgent({ configPath: other.configPath });
  const body = JSON.stringify({ namespace: ['a'], key: 'k', value: { text: 'tea' } });
  const response = await fetch(`${wrong.url}/store/items`, { method: 'PUT', body });
  expect([response.status, await response.json()]).toMatchObject([
    502,
    { detail: expect.stringContaining('an embedding of 3 numbers, and `store.index.dims` is 4. Set `dims`') },
  ]);
  await wrong.close();
  other.remove();
});

test('access rules narrow a search by meaning', async () => {
  const ruled = searchableAgent({}, { auth: { path: './auth.ts:auth' } });
  writeFileSync(
    join(ruled.folder, 'auth.ts'),
    `import { Auth } from '@langchain/langgraph-sdk/auth';
     export const auth = new Auth()
       .authenticate((request) => request.headers.get('x-user') ?? 'nobody')
       .on('store', ({ user }) => ({ owner: user.identity }));`,
  );
  const server = await serveAgent({ configPath: ruled.configPath });
  const as = (user: string, method: string, path: string, body: object) =>
    fetch(`${server.url}/store${path}`, { method, headers: { 'x-user': user }, body: JSON.stringify(body) });
  for (const owner of ['ada', 'bea'])
    await as(owner, 'PUT', '/items', { namespace: ['n'], key: owner, value: { owner, text: 'tea' } });
  const response = await as('ada', 'POST', '/items/search', { query: 'tea' });
  expect(await response.json()).toMatchObject({ items: [{ key: 'ada', score: 1 }] });
  await server.close();
  ruled.remove();
});
