import { PGlite } from '@electric-sql/pglite';
import { vector as pgvector } from '@electric-sql/pglite-pgvector';
import { Kysely, PGliteDialect, sql } from 'kysely';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { migrations } from '../../../../src/services/agent/storage/migrations.ts';
import { openStorage } from '../../../../src/services/agent/storage/open.ts';
import type { Storage } from '../../../../src/services/agent/storage/open.ts';
import type { Tables } from '../../../../src/services/agent/storage/tables.ts';
import { itemStore, type Items } from '../../../../src/services/agent/store/items.ts';
import {
  inArrays,
  vectorComparisonOf,
  withPgvector,
  type VectorComparison,
} from '../../../../src/services/agent/store/vectors.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { migrate } from '../../../../src/kit/postgres/migrate.ts';
import { loggerTo } from '../../../logger.ts';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';

/** A Postgres with pgvector, in this process. */
let engine: PGlite;
let withExtension: Pick<Storage, 'db'>;
let postgres: TestPostgres;
let storage: Storage;
const lines: string[] = [];
const log = loggerTo((line) => lines.push(line));
let now = Date.parse('2026-11-21T06:00:00Z');
const clock = { now: () => now, sleep: () => Promise.resolve() };
const settings = { defaultTtl: undefined, refreshOnRead: true, sweepEveryMs: 60_000 };

beforeAll(async () => {
  // First, because its start blocks this process for seconds.
  engine = await PGlite.create({ extensions: { vector: pgvector } });
  withExtension = { db: new Kysely<Tables>({ dialect: new PGliteDialect({ pglite: engine }) }) };
  await migrate(withExtension.db, migrations);
  postgres = await startTestPostgres();
  storage = await openStorage(postgres.url, randomUUID(), silentLogger);
});
afterAll(async () => {
  await withExtension.db.destroy();
  await storage.close();
  await postgres.stop();
});
beforeEach(async () => {
  for (const { db } of [storage, withExtension]) await sql`delete from store_items`.execute(db);
});

describe('the comparison of vectors', () => {
  test('is in arrays where the database has no pgvector', async () => {
    expect(await vectorComparisonOf(storage, log)).toBe(inArrays);
  });

  test('is in arrays where the extension may not be created, with a warning', async () => {
    await engine.exec('create role agent; set role agent');
    expect(await vectorComparisonOf(withExtension, log)).toBe(inArrays);
    expect(lines).toEqual([expect.stringMatching(/^The extension pgvector can't be created: .*permission denied/)]);
    await engine.exec('reset role');
  });

  test('is pgvector’s where the extension may be created, or is there', async () => {
    expect(await vectorComparisonOf(withExtension, log)).toBe(withPgvector);
    await engine.exec('set role agent');
    expect(await vectorComparisonOf(withExtension, log)).toBe(withPgvector);
    await engine.exec('reset role');
  });
});

describe.each<[string, () => Pick<Storage, 'db'>, VectorComparison]>([
  ['in arrays', () => storage, inArrays],
  ['in arrays, in a database with pgvector', () => withExtension, inArrays],
  ['with pgvector', () => withExtension, withPgvector],
])('vectors compared %s', (_, database, comparison) => {
  const itemsOf = (more: Partial<VectorComparison> = {}) =>
    itemStore(database(), clock, settings, { ...comparison, ...more });
  const scores = async (items: Items, vector: number[], limit?: number) =>
    (await items.searchByMeaning({ prefix: ['a'], limit }, vector)).items.map(({ key, score }) => [key, score]);

  test('have their cosine similarity, the best of an item', async () => {
    const items = itemsOf();
    await items.put(['a'], 'opposite', {}, null, [[-0.6, -0.8]]);
    await items.put(['a'], 'same', {}, 5, [[0.6, 0.8]]);
    await items.put(['a'], 'several', { n: 1 }, null, [
      [0, -1],
      [0, 1],
      [1, 0],
    ]);
    await items.put(['a'], 'zero', {}, null, [[0, 0]]);
    await items.put(['a'], 'of another length', {}, null, [[1, 0, 0]]);
    await items.put(['a'], 'none', {}, null, []);
    await items.put(['b'], 'elsewhere', {}, null, [[0.6, 0.8]]);
    const near = (number: number) => expect.closeTo(number, 5);
    expect(await scores(items, [0.6, 0.8])).toEqual([
      ['same', near(1)],
      ['several', near(0.8)],
      ['zero', near(0)],
      ['opposite', near(-1)],
    ]);
    expect(await scores(items, [0.6, 0.8], 1)).toEqual([['same', near(1)]]);
    expect(await scores(items, [1, 0, 0])).toEqual([['of another length', near(1)]]);
  });

  test('keep the smallest and the largest numbers of a vector', async () => {
    const items = itemsOf();
    const tiny = Math.fround(1e-45);
    await items.put(['a'], 'k', {}, null, [[1, tiny, -tiny]]);
    expect(await scores(items, [1, tiny, 0])).toEqual([['k', 1]]);
  });

  test('are at most so many, those written last', async () => {
    const items = itemsOf({ max: 3 });
    for (const key of ['old', 'middle', 'new']) {
      now += 1;
      await items.put(['a'], key, {}, null, [[1, 0]]);
    }
    const vector = [1, 0];
    expect(await items.searchByMeaning({ prefix: ['a', 'none'] }, vector)).toEqual({ items: [], isPartial: false });
    now += 1;
    await items.put(['a'], 'newest', {}, null, [[0, 1]]);
    const found = await items.searchByMeaning({ prefix: ['a'] }, vector);
    expect(found).toMatchObject({ items: [{ key: 'new' }, { key: 'middle' }, { key: 'newest' }], isPartial: true });
    expect((await itemsOf({ max: 5 }).searchByMeaning({ prefix: ['a'] }, vector)).isPartial).toBe(false);
  });
});
