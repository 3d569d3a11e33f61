import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/database.ts';
import { startTestPostgres } from './postgres.ts';
import type { TestPostgres } from './postgres.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres.stop());

test('an open database answers, and closing it twice does no harm', async () => {
  const database = openDatabase<{ note: { id: number; text: string } }>({
    url: postgres.url,
    applicationName: 'reader',
  });
  await database.db.schema.createTable('note').addColumn('id', 'integer').addColumn('text', 'text').execute();
  await database.db.insertInto('note').values({ id: 1, text: 'grüße' }).execute();
  expect(await database.db.selectFrom('note').selectAll().execute()).toEqual([{ id: 1, text: 'grüße' }]);
  const name = await sql<{ name: string }>`select current_setting('application_name') as name`.execute(database.db);
  expect(name.rows).toEqual([{ name: 'reader' }]);
  await database.close();
  await database.close();
});
