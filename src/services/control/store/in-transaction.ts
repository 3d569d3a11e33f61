import { sql } from 'kysely';
import type { ControlDatabase } from './tables.ts';

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
