import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { matches, type MetadataFilter } from '../../../../src/services/agent/auth/filters.ts';
import { readFilter } from '../../../../src/services/agent/store/filter.ts';
import { itemStore, type Items, type StoreSettings } from '../../../../src/services/agent/store/items.ts';
import { itemSweep } from '../../../../src/services/agent/store/deployment-store.ts';
import { openStorage, type Storage } from '../../../../src/services/agent/storage/open.ts';
import type { Clock } from '../../../../src/kit/clock.ts';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';

const MINUTE = 60_000;
const settings: StoreSettings = { defaultTtl: undefined, refreshOnRead: true, sweepEveryMs: MINUTE };

let postgres: TestPostgres;
let storage: Storage;
let now = Date.parse('2026-11-21T06:00:00Z');
const clock: Clock = { now: () => now, sleep: () => Promise.resolve() };
const store = (more: Partial<StoreSettings> = {}) => itemStore(storage, clock, { ...settings, ...more });

beforeAll(async () => {
  postgres = await startTestPostgres();
  storage = await openStorage(postgres.url, randomUUID(), silentLogger);
});
afterAll(async () => {
  await storage.close();
  await postgres.stop();
});
beforeEach(async () => {
  await storage.pool.query('delete from store_items');
});

const rows = async (): Promise<number> => (await storage.pool.query('select 1 from store_items')).rows.length;
const keys = (items: readonly { key: string }[]): string[] => items.map(({ key }) => key);

describe('items', () => {
  test(
    'are stored under their namespace and key, and replaced there',
    { meta: { claims: ['agent.store.key-value'] } },
    async () => {
      const items = store();
      await items.put(['a', 'b'], 'k', { v: 1 });
      await items.put(['a'], 'k', { v: 2 });
      const first = await items.get(['a', 'b'], 'k');
      expect(first).toMatchObject({ namespace: ['a', 'b'], key: 'k', value: { v: 1 } });
      now += 5;
      await items.put(['a', 'b'], 'k', { v: 3 });
      expect(await items.get(['a', 'b'], 'k')).toEqual({
        ...first,
        value: { v: 3 },
        updatedAt: new Date(now),
      });
      await items.delete(['a', 'b'], 'k');
      await items.delete(['a', 'b'], 'k');
      expect(await items.get(['a', 'b'], 'k')).toBeUndefined();
      expect(await items.get(['a'], 'k')).toMatchObject({ value: { v: 2 } });
    },
  );

  test('keep what jsonb can’t store', async () => {
    const value = { text: 'nul \0 and \ud800', nested: [{ a: null }], n: 1e21 };
    await store().put(['a'], 'k', value);
    expect((await store().get(['a'], 'k'))?.value).toEqual(value);
    expect(keys(await store().search({ prefix: [], conditions: conditionsOf({ n: 1e21 }) }))).toEqual(['k']);
  });

  test('concurrent writes keep one of them', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => store().put(['a'], 'k', { n })));
    expect(await rows()).toBe(1);
  });
});

function conditionsOf(filter: Record<string, unknown>) {
  const read = readFilter(filter);
  if (!read.ok) throw new Error(read.problem);
  return read.conditions;
}

describe('a search', () => {
  test('matches whole labels, with any characters', async () => {
    const namespaces = [
      ['u', '1'],
      ['u', '1', 'x'],
      ['u', '10'],
      ['u', '1\u0001'],
      ['u%'],
      ['u_1'],
      ['u:1'],
      ['U', '1'],
    ];
    for (const namespace of namespaces) await store().put(namespace, namespace.join('/'), {});
    const below = async (...prefix: string[]) => keys(await store().search({ prefix, limit: 99 })).sort();
    expect(await below('u', '1')).toEqual(['u/1', 'u/1/x']);
    expect(await below('u')).toEqual(['u/1', 'u/1/x', 'u/1\u0001', 'u/10'].sort());
    expect(await below('u%')).toEqual(['u%']);
    expect(await below('u_1')).toEqual(['u_1']);
    expect(await below('u:1')).toEqual(['u:1']);
    expect(await below()).toHaveLength(namespaces.length);
  });

  test('returns the latest writes first, page by page', async () => {
    for (const key of ['a', 'b', 'c']) {
      now += 1;
      await store().put(['n'], key, {});
    }
    now += 1;
    await store().put(['n'], 'a', { again: true });
    expect(keys(await store().search({ prefix: ['n'] }))).toEqual(['a', 'c', 'b']);
    expect(keys(await store().search({ prefix: ['n'], limit: 1, offset: 1 }))).toEqual(['c']);
  });

  const fruits = {
    apple: { price: 3, kind: 'pome', tags: ['red'], from: { land: 'Chile', farm: 1 }, sold: null },
    pear: { price: 5, kind: 'pome', since: '2026-01-02' },
    plum: { price: '4', kind: 'stone', since: '2026-03-04' },
  };
  test.each<[string, Record<string, unknown>, string[]]>([
    ['a value', { kind: 'pome' }, ['apple', 'pear']],
    ['a number, unlike its string', { price: 4 }, []],
    ['a list by equality', { tags: ['red'] }, ['apple']],
    ['null, unlike a missing field', { sold: null }, ['apple']],
    ['a part of an object', { from: { land: 'Chile' } }, ['apple']],
    ['several fields', { kind: 'pome', price: 5 }, ['pear']],
    ['$eq', { price: { $eq: 3 } }, ['apple']],
    ['$eq with an object', { from: { $eq: { farm: 1, land: 'Chile' } } }, ['apple']],
    ['$ne, which a missing field matches', { since: { $ne: '2026-01-02' } }, ['apple', 'plum']],
    ['$gt, for numbers only', { price: { $gt: 3 } }, ['pear']],
    ['$gte', { price: { $gte: 3 } }, ['apple', 'pear']],
    ['$lt', { price: { $lt: 5 } }, ['apple']],
    ['$lte', { price: { $lte: 5 } }, ['apple', 'pear']],
    ['a range', { price: { $gt: 3, $lte: 5 } }, ['pear']],
    ['the order of strings', { since: { $gt: '2026-02-01' } }, ['plum']],
    ['$in', { price: { $in: [3, '4'] } }, ['apple', 'plum']],
    ['$nin', { price: { $nin: [3, '4'] } }, ['pear']],
    ['$nin with a missing field', { since: { $nin: ['2026-01-02'] } }, ['apple', 'plum']],
    ['$exists', { since: { $exists: true } }, ['pear', 'plum']],
    ['$exists: false', { since: { $exists: false } }, ['apple']],
    ['a malicious field name', { "'; drop table store_items --": 1 }, []],
  ])('filters by %s', async (_, filter, found) => {
    for (const [key, value] of Object.entries(fruits)) await store().put(['fruits'], key, value);
    const seen = await store().search({ prefix: ['fruits'], conditions: conditionsOf(filter) });
    expect(keys(seen).sort()).toEqual(found);
  });

  /** What the agent's rules let a caller see has to be the same in a search and for a single item (`matches`). */
  test.each<[string, MetadataFilter]>([
    ['a value', { kind: 'pome' }],
    ['null', { sold: null }],
    ['a text for a number', { price: '3' }],
    ['an item of a list', { tags: ['red'] }],
    ['a list for a text', { kind: ['pome'] }],
    ['a field of no item', { absent: 1 }],
    ['two fields', { kind: 'pome', price: 5 }],
    ['the key', { key: 'pear' }],
    ['a label of the namespace', { namespace: ['fruits'] }],
    ['another label', { namespace: ['fruits', 'a'] }],
    ['a namespace as text', { namespace: 'fruits' }],
    ['a number for a label', { namespace: [7] }],
    ['a number for a key', { key: 7 }],
    ['no number', { sold: NaN }],
    ['a number without end', { sold: Infinity }],
    ['a NUL', { kind: 'po\0me' }],
    ['a field with a NUL', { 'ki\0nd': 'pome' }],
    ['half a character', { half: '\ud801' }],
    ['what half a character is stored as', { half: '\ufffd' }],
  ])('finds what access by %s allows', async (_, access) => {
    for (const [key, value] of Object.entries(fruits)) await store().put(['fruits'], key, value);
    await store().put(['7'], '7', { half: '\ud800', sold: 7 });
    const allowed = Object.entries(fruits).filter(([key, value]) =>
      matches({ ...value, namespace: ['fruits'], key }, access),
    );
    const seen = await store().search({ prefix: ['fruits'], access });
    expect(keys(seen).sort()).toEqual(allowed.map(([key]) => key).sort());
    const shown = await store().namespaces({ prefix: ['fruits'], access });
    expect(shown).toEqual(allowed.length > 0 ? [['fruits']] : []);
  });
});

describe('namespaces', () => {
  const all = [['a'], ['a', 'b', 'c'], ['a', 'b', 'd'], ['a', 'x', 'c'], ['ab', 'c']];
  test.each<[string, Parameters<Items['namespaces']>[0], string[][]]>([
    ['are returned in order', {}, all],
    ['are found by prefix', { prefix: ['a', 'b'] }, all.slice(1, 3)],
    [
      'are found by suffix',
      { suffix: ['c'] },
      [
        ['a', 'b', 'c'],
        ['a', 'x', 'c'],
        ['ab', 'c'],
      ],
    ],
    ['are found by both', { prefix: ['a'], suffix: ['x', 'c'] }, [['a', 'x', 'c']]],
    [
      'may have wildcards in a prefix',
      { prefix: ['a', '*', 'c'] },
      [
        ['a', 'b', 'c'],
        ['a', 'x', 'c'],
      ],
    ],
    [
      'may have wildcards in a suffix',
      { suffix: ['*', '*', 'c'] },
      [
        ['a', 'b', 'c'],
        ['a', 'x', 'c'],
      ],
    ],
    ['are truncated at a depth, without duplicates', { maxDepth: 2 }, [['a'], ['a', 'b'], ['a', 'x'], ['ab', 'c']]],
    [
      'are paged after that',
      { maxDepth: 2, limit: 2, offset: 1 },
      [
        ['a', 'b'],
        ['a', 'x'],
      ],
    ],
  ])('%s', async (_, requested, reported) => {
    for (const namespace of all) await store().put(namespace, 'k', {});
    await store().put(all[1] ?? [], 'another', {});
    await store().put(['gone'], 'k', {}, 1);
    now += 2 * MINUTE;
    expect(await store().namespaces(requested)).toEqual(reported);
  });
});

describe('time to live', () => {
  test('an expired item is missing before it is removed', async () => {
    const items = store({ refreshOnRead: false });
    await items.put(['a'], 'k', { v: 1 }, 1.5);
    now += 1.5 * MINUTE - 1;
    expect(await items.get(['a'], 'k')).toBeDefined();
    now += 1;
    expect(await items.get(['a'], 'k')).toBeUndefined();
    expect(await items.search({ prefix: [] })).toEqual([]);
    expect(await items.namespaces({})).toEqual([]);
    expect(await rows()).toBe(1);
    await items.put(['a'], 'k', { v: 2 });
    expect(await items.get(['a'], 'k')).toMatchObject({ createdAt: new Date(now), value: { v: 2 } });
  });

  test.each<[string, boolean, boolean | undefined, boolean]>([
    ['reading refreshes it', true, undefined, true],
    ['reading does not refresh it if configured so', false, undefined, false],
    ['a request may refresh it', false, true, true],
    ['a request may keep it', true, false, false],
  ])('%s', async (_, refreshOnRead, refresh, lives) => {
    const items = store({ refreshOnRead });
    await items.put(['a'], 'got', {}, 2);
    await items.put(['b'], 'searched', {}, 2);
    await items.put(['c'], 'left', {}, 2);
    now += MINUTE;
    const got = await items.get(['a'], 'got', refresh);
    expect(keys(await items.search({ prefix: ['b'], refresh }))).toEqual(['searched']);
    now += MINUTE;
    expect(keys(await items.search({ prefix: [] })).sort()).toEqual(lives ? ['got', 'searched'] : []);
    expect(await items.get(['a'], 'got')).toEqual(lives ? got : undefined);
  });

  test('is the configured one by default, and none for null', async () => {
    const items = store({ defaultTtl: 1, refreshOnRead: false });
    await items.put(['a'], 'usual', {});
    await items.put(['a'], 'own', {}, 3);
    await items.put(['a'], 'for ever', {}, null);
    now += MINUTE;
    expect(keys(await items.search({ prefix: ['a'] })).sort()).toEqual(['for ever', 'own']);
    await items.put(['a'], 'own', {});
    now += MINUTE;
    expect(keys(await items.search({ prefix: ['a'] }))).toEqual(['for ever']);
  });

  test('expired items are removed, by several processes at once', async () => {
    await storage.pool.query(
      `insert into store_items (namespace, key, value, created_at, updated_at, ttl_minutes, expires_at)
       select '{a}', n::text, '{}', $1, $1, 1, $1 from generate_series(1, 2500) as n`,
      [new Date(now)],
    );
    await store().put(['a'], 'kept', {}, 1);
    await store().put(['a'], 'for ever', {});
    const sweeps = [1, 2].map(() => itemSweep({ items: store(), everyMs: MINUTE, clock, log: silentLogger }));
    for (const sweep of sweeps) sweep.begin();
    await expect.poll(rows).toBe(2);
    await Promise.all(sweeps.map((sweep) => sweep.end()));
  });

  test('concurrent reads, writes and removals don’t block each other', async () => {
    const items = store();
    const names = Array.from({ length: 30 }, (_, n) => String(n));
    for (const key of names) await items.put(['a'], key, {}, 5);
    await Promise.all(
      names.flatMap((key) => [
        items.search({ prefix: ['a'], limit: 30 }),
        items.put(['a'], key, { again: true }, 5),
        items.get(['a'], key),
        items.sweep(),
      ]),
    );
    expect(await items.search({ prefix: ['a'], limit: 99 })).toHaveLength(30);
  });
});
