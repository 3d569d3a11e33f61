import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dropAgentDatabase, ensureAgentDatabase } from '../../../src/kit/postgres/databases.ts';
import { startTestPostgres, type TestPostgres } from './postgres.ts';

const agent = { database: 'agent_rights', role: 'agent_rights', password: 'rights' };
let postgres: TestPostgres;
let client: Client;

beforeAll(async () => {
  postgres = await startTestPostgres();
  client = new Client({ connectionString: await ensureAgentDatabase(postgres.url, agent) });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await dropAgentDatabase(postgres.url, agent);
  await postgres.stop();
});

test.each([
  ['run a program', "copy (select 1) to program 'id'"],
  ['write a file', "copy (select 1) to '/tmp/written'"],
  ['read a file of the server', "select pg_read_file('PG_VERSION')"],
  ['list a folder of the server', 'select * from pg_ls_waldir()'],
  ['list any folder', "select * from pg_ls_dir('.')"],
  ['read where the data lies', 'show data_directory'],
  ['lift the bound of its temporary files', 'set temp_file_limit = -1'],
  ['lift that bound for its role', 'alter role current_user set temp_file_limit = -1'],
  ['remove that bound from its role', 'alter role current_user reset temp_file_limit'],
  ['lift that bound for its database', 'alter database agent_rights set temp_file_limit = -1'],
  ['lift its number of connections', 'alter role current_user connection limit 1000'],
  ['watch every change of a schema', 'create event trigger watch on ddl_command_end execute function now()'],
  ['read verifiers of passwords', 'select * from pg_authid'],
  ['replicate', "select pg_create_physical_replication_slot('mine')"],
])('a role can not %s', async (_, statement) => {
  await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' });
});

test.each(['dblink', 'postgres_fdw', 'file_fdw', 'adminpack', 'plpython3u', 'plperlu'])(
  'a role can not create the extension %s',
  async (name) => {
    await expect(client.query(`create extension ${name}`)).rejects.toThrow(/permission denied|not available/);
  },
);

test('the temporary files of one connection are bounded, also after RESET ALL', async () => {
  await client.query('alter role current_user reset all');
  await client.query('reset all');
  expect((await client.query('show temp_file_limit')).rows).toEqual([{ temp_file_limit: '1GB' }]);
  const later = new Client({ connectionString: await ensureAgentDatabase(postgres.url, agent) });
  await later.connect();
  expect((await later.query('show temp_file_limit')).rows).toEqual([{ temp_file_limit: '1GB' }]);
  await later.end();
});

test('runs no settings or functions of an agent when it ensures or drops its database', async () => {
  const other = { database: 'agent_trap', role: 'agent_trap', password: 'trap' };
  const trap = new Client({ connectionString: await ensureAgentDatabase(postgres.url, other) });
  await trap.connect();
  await trap.query(`create function public.hashtext(text) returns integer language plpgsql as
    $$ begin execute 'alter role agent_trap superuser'; return 1; end $$`);
  await trap.query('alter database agent_trap set search_path = public, pg_catalog');
  await trap.query('alter role current_user set search_path = public, pg_catalog');
  await ensureAgentDatabase(postgres.url, other);
  expect((await trap.query('select rolsuper from pg_roles where rolname = current_user')).rows).toEqual([
    { rolsuper: false },
  ]);
  await trap.end();
  await dropAgentDatabase(postgres.url, other);
});
