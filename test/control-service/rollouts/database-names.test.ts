import { Client } from 'pg';
import { afterEach, expect, test } from 'vitest';
import { ensureAgentDatabase } from '../../../src/database/databases.ts';
import { databaseNamed } from '../databases-of.ts';
import { answering, closeAll, deploy, goesLive, openGround, openHouse, until, type Ground } from './house.ts';

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

/** The address at which a deployment's role comes to its database. */
async function addressFor({ databaseUrl }: Ground, id: string): Promise<string> {
  return ensureAgentDatabase(databaseUrl, { ...(await databaseNamed(databaseUrl, id)), password: 'for this test' });
}

const lists = ['pg_database', 'pg_roles', 'pg_stat_activity', 'pg_shdescription', 'pg_settings', 'pg_db_role_setting'];

test('the lists of the server tell a role neither id nor tenant of a deployment', async () => {
  const ground = await openGround();
  const house = await openHouse(ground);
  const both = [await deploy(house), await deploy(house)];
  for (const one of both) await goesLive(house, one);
  const url = await addressFor(ground, both[0]?.id ?? '');
  const { database } = await databaseNamed(ground.databaseUrl, both[1]?.id ?? '');
  expect(JSON.stringify(await ask(url, 'select * from pg_database'))).toContain(database);
  for (const list of lists) {
    const seen = JSON.stringify(await ask(url, `select * from ${list}`)).replaceAll('-', '');
    for (const secret of [...both.map(({ id }) => id), ground.tenantId])
      expect([list, seen.includes(secret.replaceAll('-', ''))]).toEqual([list, false]);
  }
});

test('a database with the name of an earlier version is renamed at the start, with all that is in it', async () => {
  const ground = await openGround();
  const first = await openHouse(ground);
  const asked = await deploy(first);
  await goesLive(first, asked);
  await ask(await addressFor(ground, asked.id), 'create table kept as select 7 as n');
  await first.close();
  const former = `landfall_agent_${asked.id.replaceAll('-', '')}`;
  const { database } = await databaseNamed(ground.databaseUrl, asked.id);
  await ask(ground.databaseUrl, `alter database "${database}" rename to "${former}"`);
  await ask(ground.databaseUrl, `alter role "${database}" rename to "${former}"`);
  await ask(ground.databaseUrl, 'update control.deployments set database_name = $1 where id = $2', [former, asked.id]);

  const second = await openHouse(ground);
  await goesLive(second, asked);
  expect((await databaseNamed(ground.databaseUrl, asked.id)).database).not.toBe(former);
  expect(await ask(await addressFor(ground, asked.id), 'select n from kept')).toEqual([{ n: 7 }]);
  expect(
    await ask(
      ground.databaseUrl,
      'select datname from pg_database where datname = $1 union all select rolname from pg_roles where rolname = $1',
      [former],
    ),
  ).toEqual([]);
});

test('a database that is in use at the start keeps its former name, and its agent answers', async () => {
  const ground = await openGround();
  const first = await openHouse(ground);
  const asked = await deploy(first);
  await goesLive(first, asked);
  await first.close();
  const former = `landfall_agent_${asked.id.replaceAll('-', '')}`;
  const { database } = await databaseNamed(ground.databaseUrl, asked.id);
  await ask(ground.databaseUrl, `alter database "${database}" rename to "${former}"`);
  await ask(ground.databaseUrl, `alter role "${database}" rename to "${former}"`);
  await ask(ground.databaseUrl, 'update control.deployments set database_name = $1 where id = $2', [former, asked.id]);
  const user = new Client({ connectionString: await addressFor(ground, asked.id) });
  await user.connect();
  const second = await openHouse(ground);
  expect(second.logged.join()).toContain('keeps its former name for now');
  const { url } = await second.control.getDeployment(asked.id);
  await until(async () => (await answering(url ?? '')) === asked.revisionId);
  expect(await databaseNamed(ground.databaseUrl, asked.id)).toEqual({ database: former, role: former });
  await user.end();
});
