import { Client } from 'pg';

/** All rows of a database by table, like a dump, in a stable order. */
export type Dump = Readonly<Record<string, readonly string[]>>;

/** Reads every row of every table outside Postgres' own schemas; skips the columns in `without`. */
export async function everyRow(databaseUrl: string, without: readonly string[] = []): Promise<Dump> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const dump: Record<string, string[]> = Object.fromEntries(tables.map(({ name }) => [name, []]));
    const each = tables.map(
      ({ name }) => `select '${name}' as name, (to_jsonb(row) - $1::text[])::text as row from ${name} as row`,
    );
    const { rows } = await client.query<{ name: string; row: string }>(`${each.join(' union all ')} order by 1, 2`, [
      without,
    ]);
    for (const { name, row } of rows) dump[name]?.push(row);
    return dump;
  } finally {
    await client.end();
  }
}
