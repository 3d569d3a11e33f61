import { sql } from 'kysely';
import type { ControlDatabase } from './tables.ts';

/**
 * Does something in a transaction. Within another one it becomes a part of that: what fails then undoes itself alone, and
 * nothing of it is there before the outer one has ended.
 */
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
