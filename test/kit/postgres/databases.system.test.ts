import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createDatabase,
  dropAgentDatabase,
  dropDatabase,
  ensureAgentDatabase,
  withDatabase,
} from '../../../src/kit/postgres/databases.ts';
import { startTestPostgres } from './postgres.ts';
import type { TestPostgres } from './postgres.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres.stop());

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const one = { database: 'agent "one"; drop', role: 'Agent One', password: "p'w$1/@:%" };
const two = { database: 'agent_two', role: 'agent_two', password: 'second' };

describe("an agent's database", () => {
  afterAll(async () => {
    for (const agent of [one, two]) await dropAgentDatabase(postgres.url, agent);
  });

  test('belongs to its role, whatever characters the names have', async () => {
    const url = await ensureAgentDatabase(postgres.url, one);
    await query(url, 'create table kept (n integer)');
    expect(await query(url, 'select current_user as role, current_database() as database')).toEqual([
      { role: one.role, database: one.database },
    ]);
  });

  test('can be ensured again concurrently; keeps its rows, and takes a new password', async () => {
    await query(await ensureAgentDatabase(postgres.url, one), 'insert into kept values (7)');
    const renewed = { ...one, password: 'renewed' };
    const urls = await Promise.all([1, 2, 3].map(() => ensureAgentDatabase(postgres.url, renewed)));
    expect(await query(urls[0] ?? '', 'select n from kept')).toEqual([{ n: 7 }]);
    await expect(query(withPassword(urls[0] ?? '', one.password), 'select')).rejects.toThrow('password authentication');
  });

  test.each([
    ['in its query', ({ host, pathname }: URL, who: string) => `postgres://${host}${pathname}?${who}`],
    [
      'in its query, and the host too',
      ({ hostname, port, pathname }: URL, who: string) => `postgres://${pathname}?host=${hostname}&port=${port}&${who}`,
    ],
  ])('has no administrator in its URL, whose user and password are %s', async (_, spell) => {
    const admin = new URL(postgres.url);
    const url = await ensureAgentDatabase(spell(admin, `user=${admin.username}&password=${admin.password}`), two);
    expect(await query(url, 'select current_user as role')).toEqual([{ role: two.role }]);
    expect(url).not.toContain(admin.password);
  });

  test('is the only one that its role can connect to', async () => {
    const [first, second] = [
      await ensureAgentDatabase(postgres.url, one),
      await ensureAgentDatabase(postgres.url, two),
    ];
    for (const foreign of [
      two.database,
      new URL(postgres.url).pathname.slice(1),
      'landfall',
      'postgres',
      'template1',
    ]) {
      await expect(query(withDatabase(first, foreign), 'select')).rejects.toThrow('permission denied for database');
    }
    await expect(query(withDatabase(second, one.database), 'select')).rejects.toThrow('permission denied for database');
  });

  test('gives its role no power over the server', async () => {
    const url = await ensureAgentDatabase(postgres.url, two);
    for (const forbidden of [
      'create database mine',
      'create role mine',
      "copy (select 1) to program 'id'",
      'set role landfall',
    ]) {
      await expect(query(url, forbidden)).rejects.toThrow(/permission denied/);
    }
  });

  test('gives the server a verifier of the password, and not the password', async () => {
    await ensureAgentDatabase(postgres.url, two);
    const [kept] = await query(postgres.adminUrl, `select rolpassword from pg_authid where rolname = '${two.role}'`);
    expect(kept).toEqual({ rolpassword: expect.stringMatching(/^SCRAM-SHA-256\$4096:/) });
  });

  test('leaves other databases of the server alone', async () => {
    const unrelated = await createDatabase(postgres.url, 'unrelated');
    await dropAgentDatabase(postgres.url, two);
    expect(await query(unrelated, 'select 1 as n')).toEqual([{ n: 1 }]);
    await dropDatabase(postgres.url, 'unrelated');
  });

  test('can be made by an administrator without superuser rights', async () => {
    await query(postgres.url, "create role plain_admin login createdb createrole password 'plain'");
    await query(postgres.url, 'create database plain_home owner plain_admin');
    const admin = new URL(withDatabase(postgres.url, 'plain_home'));
    [admin.username, admin.password] = ['plain_admin', 'plain'];
    const three = { database: 'agent_three', role: 'agent_three', password: 'third' };
    const url = await ensureAgentDatabase(admin.href, three);
    await ensureAgentDatabase(admin.href, three);
    expect(await query(url, 'select current_user as role')).toEqual([{ role: 'agent_three' }]);
    await expect(query(withDatabase(url, 'plain_home'), 'select')).rejects.toThrow('permission denied for database');
    await dropAgentDatabase(admin.href, three);
    await dropDatabase(postgres.url, 'plain_home');
    await query(postgres.url, 'drop role plain_admin');
  });

  test('fails with the missing right if the administrator may not create roles', async () => {
    await query(postgres.url, "create role powerless login password 'powerless'");
    const admin = new URL(postgres.url);
    [admin.username, admin.password] = ['powerless', 'powerless'];
    await query(postgres.url, `grant connect on database "${admin.pathname.slice(1)}" to powerless`);
    await expect(
      ensureAgentDatabase(admin.href, { database: 'agent_four', role: 'agent_four', password: 'fourth' }),
    ).rejects.toThrow(/^Postgres says: permission denied to create role\. .*ALTER ROLE \.\.\. CREATEDB CREATEROLE/);
    await query(postgres.url, `revoke connect on database "${admin.pathname.slice(1)}" from powerless`);
    await query(postgres.url, 'drop role powerless');
  });

  test.each([
    ['is empty', ''],
    ['would be cut off', 'a'.repeat(64)],
    ['would be cut off, counted in bytes', 'ä'.repeat(32)],
    ['does not fit into an address', 'what?'],
  ])('rejects a name that %s', async (_, database) => {
    await expect(ensureAgentDatabase(postgres.url, { ...two, database })).rejects.toThrow("can't be the name");
    await expect(createDatabase(postgres.url, database)).rejects.toThrow("can't be the name");
  });

  test('accepts the removal of a missing database', async () => {
    await dropAgentDatabase(postgres.url, { database: 'never', role: 'never' });
    await expect(query(withDatabase(postgres.url, 'never'), 'select')).rejects.toThrow('does not exist');
  });
});

function withPassword(url: string, password: string): string {
  const other = new URL(url);
  other.password = encodeURIComponent(password);
  return other.href;
}
