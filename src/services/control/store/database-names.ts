import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { messageOf } from '../../../kit/errors.ts';
import type { ControlDatabase } from './tables.ts';
import type { Logger } from '../../../kit/logger.ts';

/** The prefix of all agents' databases. */
export const databasePrefix = 'landfall_agent_';

/** A name for a deployment's database and its role: every role of the server can read it, so it carries no information. */
export const newDatabaseName = (): string => `${databasePrefix}${randomBytes(16).toString('hex')}`;

/**
 * Renames the databases and roles that earlier versions named after the deployment's id. Call it before agents start: a
 * database in use, or one that this service may not rename, keeps its name until the next start.
 */
export async function renameDatabases(db: ControlDatabase, log: Logger): Promise<void> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, database_name as name from control.deployments
    where database_name = ${databasePrefix} || replace(id::text, '-', '')`.execute(db);
  for (const { id, name } of rows) {
    try {
      await renameDatabase(db, id, name);
    } catch (error) {
      log.warn(`The database of deployment ${id} keeps its former name for now: ${messageOf(error)}`);
    }
  }
}

/** Renames both and updates the row in one transaction: all of them are on one server. */
async function renameDatabase(db: ControlDatabase, id: string, former: string): Promise<void> {
  const name = newDatabaseName();
  await db.transaction().execute(async (trx) => {
    const there = await sql<{ database: boolean; role: boolean }>`
      select exists (select from pg_catalog.pg_database where datname = ${former}) as database,
             exists (select from pg_catalog.pg_roles where rolname = ${former}) as role`.execute(trx);
    await trx.updateTable('deployments').set({ database_name: name }).where('id', '=', id).execute();
    const [found] = there.rows;
    if (found?.database) await sql`alter database ${sql.id(former)} rename to ${sql.id(name)}`.execute(trx);
    if (found?.role) await sql`alter role ${sql.id(former)} rename to ${sql.id(name)}`.execute(trx);
  });
}
