import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { storeDeliveries, StorageError, toStorageError } from '../../../app/inbox/store-deliveries.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { delivery, openInbox, type TestInbox } from './inbox.ts';

let postgres: TestPostgres;
let inbox: TestInbox;
beforeAll(async () => {
  postgres = await startTestPostgres();
  inbox = await openInbox(postgres.url, { timeoutMs: 1_500 });
});
afterAll(async () => {
  await inbox.close();
  await postgres.stop();
});
beforeEach(async () => {
  // The queue makes its tables' entry at the first send.
  await inbox.store(delivery());
  await inbox.database.pool.query('delete from app.deliveries; delete from pgboss.job');
});

const held = async (): Promise<number[]> => [await inbox.rows(), await inbox.jobs()];

test('stores a delivery unchanged, with its job', async () => {
  const one = delivery({ action: 'created', payload: '{"text":"\\u0000 ünï"}', receivedAt: 1_700_000_000_123 });
  expect(await inbox.store(one)).toBe('stored');
  expect(await inbox.deliveries.get(one.id)).toEqual({
    ...one,
    handledAt: undefined,
    decision: null,
    attempts: 0,
    lastError: undefined,
  });
  const { rows } = await inbox.database.pool.query('select id, data from pgboss.job');
  expect(rows).toEqual([{ id: one.id, data: { id: one.id, installationId: 5, group: expect.any(String) } }]);
});

describe('a repeated delivery is stored once, with one job', () => {
  test('one after the other', async () => {
    const one = delivery();
    expect(await inbox.store(one)).toBe('stored');
    expect(await inbox.store(one)).toBe('known');
    expect(await held()).toEqual([1, 1]);
  });

  test('also when its job is long done and gone', async () => {
    const one = delivery();
    await inbox.store(one);
    await inbox.database.pool.query('delete from pgboss.job');
    expect(await inbox.store(one)).toBe('known');
    expect(await held()).toEqual([1, 0]);
  });

  test('at once, through two copies of the App', async () => {
    const other = storeDeliveries({ pool: inbox.database.pool, queue: inbox.queue, clock: systemClock });
    const all = Array.from({ length: 40 }, () => delivery());
    const results = await Promise.all([...all.map(inbox.store), ...all.toReversed().map(other)]);
    expect(results.filter((result) => result === 'stored')).toHaveLength(40);
    expect(results.filter((result) => result === 'known')).toHaveLength(40);
    expect(await held()).toEqual([40, 40]);
  });

  test('inside one group', async () => {
    const id = randomUUID();
    // The first goes at once; the others wait for it together.
    const results = await Promise.all(
      [delivery(), delivery({ id }), delivery({ id }), delivery({ id })].map(inbox.store),
    );
    expect(results.toSorted()).toEqual(['known', 'known', 'stored', 'stored']);
    expect(await held()).toEqual([2, 2]);
  });
});

test('concurrent deliveries share transactions', async () => {
  const committed = async (): Promise<number> => {
    await inbox.database.pool.query('select pg_stat_clear_snapshot()');
    const { rows } = await inbox.database.pool.query<{ id: string }>('select pg_current_xact_id()::text as id');
    return Number(rows[0]?.id);
  };
  const before = await committed();
  const results = await Promise.all(Array.from({ length: 500 }, () => inbox.store(delivery())));
  expect(new Set(results)).toEqual(new Set(['stored']));
  expect((await committed()) - before).toBeLessThan(50);
  expect(await held()).toEqual([500, 500]);
});

test('an invalid delivery does not affect the others of its group', async () => {
  const wrong = delivery({ payload: '{"text":"\0"}' });
  const results = await Promise.allSettled([delivery(), delivery(), wrong, delivery()].map(inbox.store));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(await held()).toEqual([3, 3]);
});

describe('deliveries are stored with their jobs or not at all', () => {
  const breaking = (action: string): string => `
    create or replace function app.break() returns trigger language plpgsql as $$ begin ${action} end $$;
    create trigger break before insert on pgboss.job for each row execute function app.break()`;
  afterEach(() => inbox.database.pool.query('drop trigger if exists break on pgboss.job'));

  test('reports a full disk as transient, and stores the delivery on retry', async () => {
    await inbox.database.pool.query(breaking("raise 'could not extend file' using errcode = '53100';"));
    const one = delivery();
    const failed = await Promise.allSettled([one, delivery(), delivery()].map(inbox.store));
    for (const each of failed) {
      expect(each).toMatchObject({ reason: { name: 'StorageError', message: 'the disk of the database is full' } });
    }
    expect(await held()).toEqual([0, 0]);
    await inbox.database.pool.query('drop trigger break on pgboss.job');
    expect(await inbox.store(one)).toBe('stored');
    expect(await held()).toEqual([1, 1]);
  });

  test('a failing job rolls back its row', async () => {
    await inbox.database.pool.query(breaking("raise 'a mistake of ours';"));
    await expect(inbox.store(delivery())).rejects.toThrow('a mistake of ours');
    expect(await held()).toEqual([0, 0]);
  });

  test('times out if the database does not respond, and drops the connection', async () => {
    const lock = await inbox.database.pool.connect();
    await lock.query('begin; lock table app.deliveries in exclusive mode');
    const one = delivery();
    // The lock is held until the request has been given up.
    await expect(inbox.store(one)).rejects.toThrow('the database does not answer');
    await lock.query('rollback');
    lock.release();
    await expect.poll(() => inbox.store(one)).toMatch(/stored|known/);
    expect(await held()).toEqual([1, 1]);
  });
});

test('fails while the database is down, and stores again afterwards', async () => {
  const lock = await inbox.database.pool.connect();
  await lock.query('begin; lock table app.deliveries in exclusive mode');
  // The server ends the connections, as it does when it restarts; the lock's last, so that the delivery can't get it.
  const cut = (): Promise<unknown> =>
    lock.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  const one = delivery();
  const underWay = inbox.store(one).catch((error: unknown) => error);
  const waiting = "select from pg_locks where relation = 'app.deliveries'::regclass and not granted";
  await expect.poll(async () => (await inbox.database.pool.query(waiting)).rowCount).toBe(1);
  await cut();
  expect(await underWay).toBeInstanceOf(StorageError);
  lock.release(true);
  await expect.poll(() => inbox.store(one).catch(() => 'failed')).toBe('stored');
});

test.each([
  ['53100', 'the disk of the database is full'],
  ['53200', 'the database has run out of memory'],
  ['53300', 'the database is busy'],
  ['40P01', 'the database is busy'],
  ['57P01', 'the database is unavailable'],
  ['ECONNREFUSED', 'the database is unavailable'],
])('an error %s means that %s', (code, words) => {
  const error = Object.assign(new Error('what the driver says'), { code });
  expect(toStorageError(error)).toMatchObject({ name: 'StorageError', message: words, cause: error });
});

test('any other error is internal and is rethrown', () => {
  const error = Object.assign(new Error('column does not exist'), { code: '42703' });
  expect(toStorageError(error)).toBe(error);
});
