import { sql } from 'kysely';
import { controlSchema } from './migrations.ts';
import type { ControlDatabase, ControlTables } from './tables.ts';

/** Which rows of a table are kept: of those where a column has a value, the newest. */
interface Kept<Table extends keyof ControlTables, Column extends string & keyof ControlTables[Table]> {
  table: Table;
  /** A unique column. */
  key: Column;
  where: readonly [column: Column, value: string];
  /** Grows with every row. */
  order: Column;
  max: number;
}

/** Removes the older rows beyond the newest `max`. */
export async function keepNewest<Table extends keyof ControlTables, Column extends string & keyof ControlTables[Table]>(
  db: ControlDatabase,
  { table, key, where: [column, value], order, max }: Kept<Table, Column>,
): Promise<void> {
  const rows = sql.id(controlSchema, table);
  await sql`
    delete from ${rows} where ${sql.id(key)} in (
      select ${sql.id(key)} from ${rows} where ${sql.id(column)} = ${value}
      order by ${sql.id(order)} desc offset ${max}
    )`.execute(db);
}
