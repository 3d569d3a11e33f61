import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStorage } from '../../../../src/services/agent/storage/open.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';
import { until } from '../promises/fixture.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres.stop());

const open = () => openStorage(postgres.url, 'test', silentLogger);

test('a start does not wait for the index of cron runs, a stop ends it, and the next start creates it', async () => {
  const other = await open();
  const query = async (text: string) => (await other.pool.query<{ is: boolean }>(text)).rows[0]?.is;
  const isValid = () => query("select indisvalid as is from pg_index where indexrelid = to_regclass('runs_of_crons')");
  await until(async () => (await isValid()) || undefined);
  await other.pool.query('drop index runs_of_crons');
  const writing = await other.pool.connect();
  await writing.query('begin');
  await writing.query('lock table runs in row exclusive mode');

  const storage = await open();
  const isCreating = () =>
    query(
      "select true as is from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock'",
    );
  await until(isCreating);
  await storage.close();
  expect(await isCreating()).toBeUndefined();
  expect(await isValid()).toBe(false);

  await writing.query('rollback');
  writing.release();
  const next = await open();
  await until(async () => (await isValid()) || undefined);
  await next.close();
  await other.close();
});
