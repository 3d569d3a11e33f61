import { Client } from 'pg';
import { dropAgentDatabase, type AgentDatabase } from '../../../src/kit/postgres/databases.ts';

/** Removes the databases of all deployments of a service. */
export async function dropAgentDatabases(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>('select database_name as name from control.deployments');
    for (const { name } of rows) await dropAgentDatabase(databaseUrl, { database: name, role: name });
  } finally {
    await client.end();
  }
}

/** The database of a deployment and its role, as recorded by the service. */
export async function databaseNamed(databaseUrl: string, id: string): Promise<Omit<AgentDatabase, 'password'>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      'select database_name as name from control.deployments where id = $1',
      [id],
    );
    const [found] = rows;
    if (!found) throw new Error(`There is no deployment ${id}.`);
    return { database: found.name, role: found.name };
  } finally {
    await client.end();
  }
}
