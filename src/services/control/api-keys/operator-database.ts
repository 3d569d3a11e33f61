import { join, resolve } from 'node:path';
import { sql, type Selectable } from 'kysely';
import { openDatabase, type Database } from '../../../kit/postgres/database.ts';
import { FolderBusyError } from '../../../kit/postgres/embedded/folder-lock.ts';
import { resolveDatabase } from '../../../kit/postgres/resolve-database.ts';
import { systemClock, type Clock } from '../../../kit/clock.ts';
import { retryWhileUnavailable, isDatabaseStarting } from '../../../kit/postgres/unavailable.ts';
import { hasEmbeddedData, runningEmbedded } from '../../../kit/postgres/embedded/launch.ts';
import { controlMigrations, controlSchema } from '../store/migrations.ts';
import type { ControlTables, ControlDatabase } from '../store/tables.ts';
import type { TenantsTable } from '../store/access-tables.ts';
import type { Logger } from '../../../kit/logger.ts';
import { randomUUID } from 'node:crypto';

export type Tenant = Selectable<TenantsTable>;

export const tenantStore = (db: ControlDatabase, clock: Clock) => ({
  async addTenant(name: string, id: string = randomUUID()): Promise<string> {
    await db
      .insertInto('tenants')
      .values({ id, name, created_at: new Date(clock.now()) })
      .execute();
    return id;
  },

  async firstTenant(): Promise<string | undefined> {
    const found = await db.selectFrom('tenants').select('id').orderBy('created_at').limit(1).executeTakeFirst();
    return found?.id;
  },

  /** Every tenant, oldest first. */
  async listTenants(): Promise<Tenant[]> {
    return db.selectFrom('tenants').selectAll().orderBy('created_at').orderBy('id').execute();
  },
});

export interface InstallationDependencies {
  /** `DATABASE_URL`; empty counts as absent. */
  databaseUrl: string | undefined;
  dataDir: string;
  log: Logger;
}

/**
 * Opens the tables of an installation for its operator, whether its service runs or not: an external Postgres, the
 * embedded one of the running service, or the embedded one started for this command. No request to the service is
 * needed: access to the data folder makes a user the operator, and an operator endpoint would be one more way in. The
 * service looks keys up at every request, so changes apply from the next one on.
 *
 * @throws Error with advice where there is no installation, or where its tables are those of another version.
 */
export async function openForOperator(settings: InstallationDependencies): Promise<Database<ControlTables>> {
  const server = await findDatabase(settings);
  const database = openDatabase<ControlTables>({ url: server.url, max: 2, applicationName: 'landfall-operator' });
  const close = async (): Promise<void> => {
    await database.close();
    await server.close();
  };
  try {
    await retryWhileUnavailable(() => checkTables(database), { clock: systemClock, isPassing: isDatabaseStarting });
  } catch (error) {
    await close();
    throw error;
  }
  return { ...database, close };
}

async function findDatabase({ databaseUrl, dataDir, log }: InstallationDependencies) {
  const folder = join(resolve(dataDir), 'postgres');
  if (!databaseUrl && !hasEmbeddedData(folder)) {
    throw new Error(
      `There is no database in ${resolve(dataDir)}. Name the data folder of the service with --data, or set DATABASE_URL as the service has it. A new installation is made by starting the service once: landfall local.`,
    );
  }
  try {
    return await resolveDatabase({ databaseUrl, dataDir: folder, log });
  } catch (error) {
    if (!(error instanceof FolderBusyError)) throw error;
    const url = runningEmbedded(folder);
    if (url === undefined) throw error;
    return { url, close: async () => undefined };
  }
}

/** Checks that the tables have this version's schema; only the service migrates them. */
async function checkTables({ db }: Database<ControlTables>): Promise<void> {
  const { rows: there } = await sql<{ there: boolean }>`
    select to_regclass(${`${controlSchema}.migrations`}) is not null as there`.execute(db);
  const applied = there[0]?.there
    ? (await sql<{ name: string }>`select name from ${sql.id(controlSchema, 'migrations')}`.execute(db)).rows
    : [];
  const names = new Set(applied.map(({ name }) => name));
  const known = new Set(controlMigrations.map(({ name }) => name));
  if (names.symmetricDifference(known).size === 0) return;
  throw new Error(
    names.size === 0
      ? 'No control service has worked on this database yet. Start it once: landfall local.'
      : 'The tables of this database are those of another version of the control service. Start this version of it once: landfall local.',
  );
}
