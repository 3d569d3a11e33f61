import { silentLogger } from '../../../../src/kit/logger.ts';
import { loggerTo } from '../../../logger.ts';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { claimDatabase } from '../../../../src/services/control/database-claim.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres.stop());

/** A clock whose sleeps end at once and advance it by their length. */
function impatientClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    sleep: async (ms) => {
      now += ms;
    },
  };
}

test('refuses a second service on the same database until the first has exited', async () => {
  const first = await claimDatabase(postgres.url, systemClock, silentLogger);
  await expect(claimDatabase(postgres.url, impatientClock(), silentLogger)).rejects.toThrow(
    'Another control service works on this database. Stop it',
  );
  await first.release();
  const second = await claimDatabase(postgres.url, impatientClock(), silentLogger);
  await second.release();
});

test('claims the database again after it closed the connection', async () => {
  const output: string[] = [];
  const claim = await claimDatabase(
    postgres.url,
    systemClock,
    loggerTo((message) => output.push(message)),
  );
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  const held = async (): Promise<number[]> => {
    const { rows } = await admin.query<{ pid: number }>(
      "select pid from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())",
    );
    return rows.map(({ pid }) => pid);
  };
  const [before] = await held();
  await admin.query('select pg_terminate_backend($1)', [before]);
  // The former connection closes at some point; what counts is that another one holds the claim.
  const isHeldAgain = async (): Promise<boolean> => (await held()).some((pid) => pid !== before);
  await expect.poll(isHeldAgain).toBe(true);
  await claim.release();
  expect(output).toEqual([]);
  await admin.end();
});

test('reports once that another service claimed the database after a disconnect', async () => {
  const output: string[] = [];
  let looks = 0;
  const clock: Clock = {
    now: () => 0,
    sleep: async () => {
      looks += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
  const claim = await claimDatabase(
    postgres.url,
    clock,
    loggerTo((message) => output.push(message)),
  );
  const other = new Client({ connectionString: postgres.url });
  await other.connect();
  const lock = other.query("select pg_advisory_lock(hashtext('landfall control service'))");
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())",
  );
  await lock;
  await expect.poll(() => output.length).toBe(1);
  const before = looks;
  await expect.poll(() => looks).toBeGreaterThan(before + 3);
  expect(output).toEqual(['Another control service works on this database now. Stop one of the two.']);
  await other.end();
  await claim.release();
  await admin.end();
});
