import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { controlMigrations, controlSchema } from '../../../../src/services/control/store/migrations.ts';
import { openDatabase } from '../../../../src/kit/postgres/database.ts';
import { migrate } from '../../../../src/kit/postgres/migrate.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';

test('derives the causes of existing revisions from the audit log', async () => {
  const postgres = await startTestPostgres();
  const database = openDatabase({ url: postgres.url });
  const before = controlMigrations.filter(({ name }) => name < '071');
  await migrate(database.db, before, { schema: controlSchema });
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const [tenant, deployment] = [randomUUID(), randomUUID()];
  const now = new Date();
  await client.query('insert into control.tenants (id, name, created_at) values ($1, $2, $3)', [tenant, 'one', now]);
  await client.query(
    `insert into control.deployments (id, tenant_id, name, source, source_config, source_revision_config, secrets,
       database_state, database_password, database_name, status, created_at, updated_at)
     values ($1, $2, 'a', 'github', '{}', '{}', '[]', 'ready', 'x', 'x', 'READY', $3, $3)`,
    [deployment, tenant, now],
  );
  const revisions: string[] = [];
  const add = async (operation: string | undefined, of: string | null = null, isLive = false): Promise<string> => {
    const id = randomUUID();
    revisions.push(id);
    await client.query(
      `insert into control.revisions (id, deployment_id, status, source, source_config, source_revision_config, secrets,
         redeploy_of, created_at, updated_at)
       values ($1, $2, 'DEPLOYED', 'github', '{}', '{}', '[]', $3, $4, $4)`,
      [id, deployment, of, now],
    );
    if (operation !== undefined) {
      await client.query(
        `insert into control.audit (tenant_id, at, actor, key_id, key_name, operation, subject, fields)
         values ($1, $2, 'key', 'k', 'ci', $3, $4, '[]')`,
        [tenant, now, operation, { deployment_id: deployment, revision_id: id }],
      );
    }
    if (isLive) {
      await client.query(`insert into control.revision_events (revision_id, status, at) values ($1, 'DEPLOYED', $2)`, [
        id,
        now,
      ]);
    }
    return id;
  };
  try {
    await add(undefined);
    const created = await add('create deployment');
    const live = await add('patch deployment', null, true);
    const latest = await add('create revision');
    await add('redeploy revision', live);
    await add('redeploy revision', latest);
    await add('redeploy revision', created);
    await add('build push');
    await migrate(database.db, controlMigrations, { schema: controlSchema });
    const { rows } = await client.query<{ id: string; cause: string; cause_key_name: string | null }>(
      'select id, cause, cause_key_name from control.revisions order by sequence',
    );
    expect(rows.map(({ id }) => id)).toEqual(revisions);
    expect(rows.map(({ cause }) => cause)).toEqual([
      'unknown',
      'create',
      'patch',
      'patch',
      'redeploy',
      'rollback',
      'rollback',
      'push',
    ]);
    expect(rows.map(({ cause_key_name }) => cause_key_name)).toEqual([null, ...Array.from({ length: 7 }, () => 'ci')]);
  } finally {
    await client.end();
    await database.close();
    await postgres.stop();
  }
});
