import { Client } from 'pg';
import type { ConsoleFixture } from './fixture.ts';

/** Runs a statement in the database of the services, for what would take too long by the API. */
export async function changeDatabase(
  { services: { databaseUrl } }: ConsoleFixture,
  sql: string,
  values: readonly unknown[] = [],
): Promise<void> {
  if (databaseUrl === undefined) throw new Error('The services started a database of their own.');
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(sql, [...values]);
  } finally {
    await client.end();
  }
}
