import { sql } from 'kysely';
import type { ControlDatabase, ControlTables } from './tables.ts';
import { controlSchema } from './migrations.ts';
import { hasCode } from '../../../kit/errors.ts';

/** Runs a callback in a transaction. Inside another one it uses a savepoint: a failure rolls back only this part. */
export async function inTransaction<T>(db: ControlDatabase, work: (trx: ControlDatabase) => Promise<T>): Promise<T> {
  if (!db.isTransaction) return db.transaction().execute(work);
  await sql`savepoint part`.execute(db);
  try {
    const done = await work(db);
    await sql`release savepoint part`.execute(db);
    return done;
  } catch (error) {
    await sql`rollback to savepoint part`.execute(db);
    await sql`release savepoint part`.execute(db);
    throw error;
  }
}

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

const uniqueViolation = '23505';
const foreignKeyViolation = '23503';

/** The name of the unique constraint that an error of the database is about, if it is about one. */
export const brokenConstraint = (error: unknown): string | undefined => constraintOf(error, uniqueViolation);

/** The name of the foreign key that an error of the database is about, if it is about one. */
export const brokenReference = (error: unknown): string | undefined => constraintOf(error, foreignKeyViolation);

function constraintOf(error: unknown, wanted: string): string | undefined {
  if (!hasCode(error, wanted) || !('constraint' in error)) return undefined;
  return typeof error.constraint === 'string' ? error.constraint : undefined;
}
