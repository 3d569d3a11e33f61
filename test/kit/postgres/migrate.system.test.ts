import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/kit/postgres/database.ts';
import { firstOutOfOrder, migrate, NewerDatabaseError } from '../../../src/kit/postgres/migrate.ts';
import type { Migration } from '../../../src/kit/postgres/migrate.ts';
import { startTestPostgres } from './postgres.ts';
import type { TestPostgres } from './postgres.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres.stop());

async function withDatabase<T>(work: (db: Kysely<Record<string, { n: number }>>) => Promise<T>): Promise<T> {
  const database = openDatabase<Record<string, { n: number }>>({ url: postgres.url, max: 2 });
  try {
    return await work(database.db);
  } finally {
    await database.close();
  }
}

const table = (name: string, of: string): Migration => ({
  name,
  up: async (db) => {
    // Slow enough for the others to start meanwhile.
    await sql`select pg_sleep(0.05)`.execute(db);
    await db.schema.createTable(of).addColumn('n', 'integer').execute();
  },
});

describe('migrate', () => {
  test('applies what is pending, in order, and nothing twice', async () => {
    await withDatabase(async (db) => {
      const place = { schema: 'ordered' };
      expect(await migrate(db, [table('001-a', 'a')], place)).toEqual(['001-a']);
      expect(await migrate(db, [table('001-a', 'a'), table('002-b', 'b')], place)).toEqual(['002-b']);
      expect(await migrate(db, [table('001-a', 'a'), table('002-b', 'b')], place)).toEqual([]);
      await db.withSchema('ordered').insertInto('b').values({ n: 1 }).execute();
      expect(await db.withSchema('ordered').selectFrom('b').select('n').execute()).toEqual([{ n: 1 }]);
    });
  });

  test('concurrent processes apply each step exactly once', async () => {
    const steps = [table('001-a', 'a'), table('002-b', 'b'), table('003-c', 'c')];
    const applied = await Promise.all(
      Array.from({ length: 5 }, () => withDatabase((db) => migrate(db, steps, { schema: 'crowd' }))),
    );
    expect(applied.flat().sort()).toEqual(['001-a', '002-b', '003-c']);
  });

  test('a step that fails rolls back those before it', async () => {
    await withDatabase(async (db) => {
      const failing: Migration = { name: '002-bad', up: async (tx) => void (await sql`select 1/0`.execute(tx)) };
      await expect(migrate(db, [table('001-a', 'a'), failing], { schema: 'whole' })).rejects.toThrow(
        'division by zero',
      );
      expect(await migrate(db, [table('001-a', 'a')], { schema: 'whole' })).toEqual(['001-a']);
    });
  });

  test('rejects a database of a newer version', async () => {
    await withDatabase(async (db) => {
      const place = { schema: 'newer', table: 'steps' };
      await migrate(db, [table('001-a', 'a'), table('002-b', 'b')], place);
      const older = migrate(db, [table('001-a', 'a')], place);
      await expect(older).rejects.toThrow(NewerDatabaseError);
      await expect(older).rejects.toThrow('made by a newer version of Landfall (it has 002-b)');
    });
  });

  test('modules that share a database keep their own lists', async () => {
    await withDatabase(async (db) => {
      expect(await migrate(db, [table('001-x', 'shared_x')], { table: 'steps_of_x' })).toEqual(['001-x']);
      expect(await migrate(db, [table('001-y', 'shared_y')], { table: 'steps_of_y' })).toEqual(['001-y']);
    });
  });

  test('rejects names that do not sort in their order', async () => {
    await withDatabase(async (db) => {
      await expect(migrate(db, [table('002-b', 'b'), table('001-a', 'a')])).rejects.toThrow('The migration 001-a');
    });
  });
});

test.each([
  ['no names are in order', [], undefined],
  ['names that ascend are in order', ['1-a', '2-a'], undefined],
  ['a name that comes twice is out of order', ['1-a', '1-a'], '1-a'],
  ['ten sorts before nine when it has one digit more', ['9-a', '10-b'], '10-b'],
])('%s', (_, names, found) => expect(firstOutOfOrder(names)).toBe(found));
