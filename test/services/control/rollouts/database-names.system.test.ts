import { Client } from 'pg';
import { afterEach, expect, test } from 'vitest';
import { ensureAgentDatabase } from '../../../../src/kit/postgres/databases.ts';
import { databaseNamed } from '../databases-of.ts';
import {
  answering,
  closeAll,
  deploy,
  goesLive,
  openMachine,
  startService,
  until,
  type Machine,
} from './running-service.ts';

afterEach(closeAll);

async function ask(url: string, statement: string, values: readonly string[] = []): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** The address at which a deployment's role connects to its database. */
async function addressFor({ databaseUrl }: Machine, id: string): Promise<string> {
  return ensureAgentDatabase(databaseUrl, { ...(await databaseNamed(databaseUrl, id)), password: 'for this test' });
}

const lists = ['pg_database', 'pg_roles', 'pg_stat_activity', 'pg_shdescription', 'pg_settings', 'pg_db_role_setting'];

test('the catalogs show a role neither the id nor the tenant of a deployment', async () => {
  const machine = await openMachine();
  const instance = await startService(machine);
  const both = [await deploy(instance), await deploy(instance)];
  for (const one of both) await goesLive(instance, one);
  const url = await addressFor(machine, both[0]?.id ?? '');
  const { database } = await databaseNamed(machine.databaseUrl, both[1]?.id ?? '');
  expect(JSON.stringify(await ask(url, 'select * from pg_database'))).toContain(database);
  for (const list of lists) {
    const seen = JSON.stringify(await ask(url, `select * from ${list}`)).replaceAll('-', '');
    for (const secret of [...both.map(({ id }) => id), machine.tenantId])
      expect([list, seen.includes(secret.replaceAll('-', ''))]).toEqual([list, false]);
  }
});

test('renames a database of an earlier version at the start, with its data', async () => {
  const machine = await openMachine();
  const first = await startService(machine);
  const requested = await deploy(first);
  await goesLive(first, requested);
  await ask(await addressFor(machine, requested.id), 'create table kept as select 7 as n');
  await first.close();
  const former = `landfall_agent_${requested.id.replaceAll('-', '')}`;
  const { database } = await databaseNamed(machine.databaseUrl, requested.id);
  await ask(machine.databaseUrl, `alter database "${database}" rename to "${former}"`);
  await ask(machine.databaseUrl, `alter role "${database}" rename to "${former}"`);
  await ask(machine.databaseUrl, 'update control.deployments set database_name = $1 where id = $2', [
    former,
    requested.id,
  ]);

  const second = await startService(machine);
  await goesLive(second, requested);
  expect((await databaseNamed(machine.databaseUrl, requested.id)).database).not.toBe(former);
  expect(await ask(await addressFor(machine, requested.id), 'select n from kept')).toEqual([{ n: 7 }]);
  expect(
    await ask(
      machine.databaseUrl,
      'select datname from pg_database where datname = $1 union all select rolname from pg_roles where rolname = $1',
      [former],
    ),
  ).toEqual([]);
});

test('a database in use at the start keeps its former name, and its agent serves', async () => {
  const machine = await openMachine();
  const first = await startService(machine);
  const requested = await deploy(first);
  await goesLive(first, requested);
  await first.close();
  const former = `landfall_agent_${requested.id.replaceAll('-', '')}`;
  const { database } = await databaseNamed(machine.databaseUrl, requested.id);
  await ask(machine.databaseUrl, `alter database "${database}" rename to "${former}"`);
  await ask(machine.databaseUrl, `alter role "${database}" rename to "${former}"`);
  await ask(machine.databaseUrl, 'update control.deployments set database_name = $1 where id = $2', [
    former,
    requested.id,
  ]);
  const user = new Client({ connectionString: await addressFor(machine, requested.id) });
  await user.connect();
  const second = await startService(machine);
  expect(second.logged.join()).toContain('keeps its former name for now');
  const { url } = await second.control.getDeployment(requested.id);
  await until(async () => (await answering(url ?? '')) === requested.revisionId);
  expect(await databaseNamed(machine.databaseUrl, requested.id)).toEqual({ database: former, role: former });
  await user.end();
});
