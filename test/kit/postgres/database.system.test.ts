import { silentLogger } from '../../../src/kit/logger.ts';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { messageOf } from '../../../src/kit/errors.ts';
import { openDatabase } from '../../../src/kit/postgres/database.ts';
import { dropAgentDatabase, ensureAgentDatabase } from '../../../src/kit/postgres/databases.ts';
import { openQueue } from '../../../src/kit/postgres/queue.ts';
import { resolveDatabase } from '../../../src/kit/postgres/resolve-database.ts';
import { isDatabaseUnavailable, TooManyConnectionsError } from '../../../src/kit/postgres/unavailable.ts';
import { startTestPostgres } from './postgres.ts';
import type { TestPostgres } from './postgres.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres.stop());

test('an open database answers, and closing it twice is safe', async () => {
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

test('a broken connection ends its transaction, and not the process', async () => {
  const database = openDatabase({ url: postgres.url });
  const broken = database.db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.db);
    // The connection is idle while it breaks.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await sql`select 1`.execute(tx);
  });
  await expect(broken).rejects.toThrow(/connection|terminat/i);
  expect((await sql<{ one: number }>`select 1 as one`.execute(database.db)).rows).toEqual([{ one: 1 }]);
  await database.close();
});

test('waits for a free connection until the timeout', async () => {
  const open = (waitMs: number) => openDatabase({ url: postgres.url, max: 1, waitMs });
  const [short, long] = [open(2000), open(60_000)];
  const [held, other] = await Promise.all([short.pool.connect(), long.pool.connect()]);
  const refused = await short.pool.query('select 1').catch((error: unknown) => error);
  expect(String(refused)).toContain('timeout exceeded');
  expect(isDatabaseUnavailable(refused)).toBe(true);
  const waits = long.pool.query('select 1 as one');
  other.release();
  expect((await waits).rows).toEqual([{ one: 1 }]);
  held.release();
  await Promise.all([short.close(), long.close()]);
});

test('suggests a higher limit if the server has no further connection', async () => {
  const agent = { database: 'crowded', role: 'crowded', password: 'crowded' };
  const url = await ensureAgentDatabase(postgres.url, agent);
  const admin = openDatabase({ url: postgres.url });
  await sql`alter role crowded connection limit 1`.execute(admin.db);
  const [first, second] = [openDatabase({ url }), openDatabase({ url })];
  await sql`select 1`.execute(first.db);
  const requested = [
    sql`select 1`.execute(second.db),
    second.pool.query('select 1'),
    second.pool.connect(),
    openQueue({ url, log: silentLogger }),
  ];
  for (const answer of await Promise.allSettled(requested)) {
    const reason: unknown = answer.status === 'rejected' ? answer.reason : undefined;
    expect(reason).toBeInstanceOf(TooManyConnectionsError);
    expect(String(reason)).toContain('too many connections for role "crowded"');
    expect(String(reason)).toContain('Raise max_connections of the server');
    expect(isDatabaseUnavailable(reason)).toBe(true);
  }
  await Promise.all([first.close(), second.close()]);
  await dropAgentDatabase(postgres.url, agent);
  await admin.close();
});

describe('an error of a query', () => {
  const coded = (code: string, message = '') => Object.assign(new Error(message), { code });
  test.each([
    ['means the database is unavailable when the connection is refused', coded('ECONNREFUSED'), true],
    ['means it when every address refuses', new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')]), true],
    ['means it when the server shuts down', coded('57P01'), true],
    ['means it when the server starts up', coded('57P03'), true],
    ['means it when the connection broke', new Error('Connection terminated unexpectedly'), true],
    ['means it when connecting took too long', new Error('timeout expired'), true],
    ['means it when no connection was free', new Error('timeout exceeded when trying to connect'), true],
    ['means it when it was caused by one that does', new Error('send', { cause: coded('08006') }), true],
    ['does not mean it when the statement is wrong', coded('42601', 'syntax error'), false],
    ['does not mean it when a row is there already', coded('23505'), false],
    ['does not mean it when the password is wrong', coded('28P01'), false],
  ])('%s', (_, error, answer) => expect(isDatabaseUnavailable(error)).toBe(answer));

  test('that is no error means nothing', () => expect(isDatabaseUnavailable('ECONNREFUSED')).toBe(false));
});

test('an error of several attempts has the message of each', () => {
  const refused = (host: string) => new Error(`connect ECONNREFUSED ${host}:5432`);
  expect(messageOf(new AggregateError([refused('::1'), refused('127.0.0.1')]))).toBe(
    'connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432',
  );
});

describe('the database of an installation', () => {
  test('is the one at DATABASE_URL if that is set, and closing leaves it running', async () => {
    const found = await resolveDatabase({ databaseUrl: postgres.url, dataDir: '/nonexistent', log: silentLogger });
    expect(found).toMatchObject({ url: postgres.url, embedded: false });
    await found.close();
    const database = openDatabase({ url: found.url });
    expect((await sql<{ n: number }>`select 1 as n`.execute(database.db)).rows).toEqual([{ n: 1 }]);
    await database.close();
  });

  test.each([
    ['of another kind', 'mysql://me:canary-2f9@db/app'],
    ['no address', 'canary-2f9'],
  ])('is rejected if DATABASE_URL is %s, without repeating it', async (_, databaseUrl) => {
    const resolving = resolveDatabase({ databaseUrl, dataDir: '/nonexistent', log: silentLogger });
    await expect(resolving).rejects.toThrow('DATABASE_URL is not the address of a Postgres database.');
    await expect(resolving).rejects.not.toThrow('canary-2f9');
  });

  test.each([
    [
      'the connection is refused',
      (url: URL) => Object.assign(url, { port: '1' }),
      /connect ECONNREFUSED .*host and port/,
    ],
    ['the password is wrong', (url: URL) => Object.assign(url, { password: 'canary-2f9' }), /password authentication/],
    [
      'there is no such database',
      (url: URL) => Object.assign(url, { pathname: '/nowhere' }),
      /"nowhere" does not exist/,
    ],
  ])('is rejected if %s at DATABASE_URL', async (_, change, why) => {
    const databaseUrl = change(new URL(postgres.url)).href;
    const resolving = resolveDatabase({ databaseUrl, dataDir: '/nonexistent', log: silentLogger });
    await expect(resolving).rejects.toThrow(why);
    await expect(resolving).rejects.toThrow("The database at DATABASE_URL can't be used (");
    await expect(resolving).rejects.not.toThrow(new URL(databaseUrl).password);
  });

  test('is an embedded one if DATABASE_URL is empty', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'landfall-resolve-'));
    chmodSync(folder, 0o711);
    const found = await resolveDatabase({ databaseUrl: '', dataDir: join(folder, 'postgres'), log: silentLogger });
    expect(found.embedded).toBe(true);
    const database = openDatabase({ url: found.url });
    expect((await sql<{ n: number }>`select 1 as n`.execute(database.db)).rows).toEqual([{ n: 1 }]);
    await database.close();
    await found.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
