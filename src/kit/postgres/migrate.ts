import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { steadyClock } from '../clock.ts';
import { retryWhileUnavailable, isDatabaseUnavailable } from './unavailable.ts';

/** One step of a database's form. Names sort in the order of the steps, for example `001-deployments`. */
export interface Migration {
  name: string;
  /** Runs in a transaction with all other pending steps. */
  up(db: Kysely<unknown>): Promise<void>;
}

/** A step that is plain SQL. */
export const sqlStep = (name: string, ...statements: readonly string[]): Migration => ({
  name,
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});

/** Where the list of applied steps is kept. */
interface MigrateOptions {
  /** The schema of the list, made when absent; the steps get a query builder that writes there. `public` when absent. */
  schema?: string;
  /** The table of the list; rooms that share a database have one each. `migrations` when absent. */
  table?: string;
}

/** The database has steps that this program does not know: a newer version of it was here. */
export class NewerDatabaseError extends Error {
  constructor(unknown: readonly string[]) {
    super(
      `The database was made by a newer version of Landfall (it has ${unknown.join(', ')}). ` +
        'Run that version, or give this one another database.',
    );
    this.name = 'NewerDatabaseError';
  }
}

/**
 * Brings a database to the form this program wants: forward only, all pending steps or none. Several processes may
 * do it at once; a lock lets one work and the others find it done. Returns the names of the steps that were applied
 * now.
 *
 * @throws NewerDatabaseError when the database is ahead of this program.
 */
export async function migrate<Schema>(
  db: Kysely<Schema>,
  migrations: readonly Migration[],
  { schema = 'public', table = 'migrations' }: MigrateOptions = {},
): Promise<string[]> {
  const names = migrations.map(({ name }) => name);
  const disorder = firstOutOfOrder(names);
  if (disorder !== undefined)
    throw new Error(`The migration ${disorder} must have a name that sorts after the one before it.`);
  const migrator = new Migrator({
    db,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          migrations.map((step) => [step.name, { up: (tx: Kysely<unknown>) => step.up(tx.withSchema(schema)) }]),
        ),
    },
    migrationTableSchema: schema,
    migrationTableName: table,
    migrationLockTableName: `${table}_lock`,
    nameComparator: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
  });
  // A step that was lost with its connection was rolled back with all others, or is in the list.
  const attempt = async () => {
    const { error, results = [] } = await migrator.migrateToLatest();
    if (isDatabaseUnavailable(error)) throw error;
    return { error, results };
  };
  const { error, results } = await retryWhileUnavailable(attempt, { clock: steadyClock });
  if (error === undefined) return results.map(({ migrationName }) => migrationName);
  const unknown = (await appliedNames(db, schema, table)).filter((name) => !names.includes(name));
  throw unknown.length > 0 ? new NewerDatabaseError(unknown) : error;
}

/** The first name that does not sort after the one before it, letter by letter. */
export const firstOutOfOrder = (names: readonly string[]): string | undefined =>
  names.find((name, at) => at > 0 && name <= (names[at - 1] ?? ''));

async function appliedNames<Schema>(db: Kysely<Schema>, schema: string, table: string): Promise<string[]> {
  const there = await sql<{ there: boolean }>`
    select to_regclass(format('%I.%I', ${schema}::text, ${table}::text)) is not null as there`.execute(db);
  if (there.rows[0]?.there !== true) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.id(schema, table)} order by name`.execute(db);
  return rows.map(({ name }) => name);
}
