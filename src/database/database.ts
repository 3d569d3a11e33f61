import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import type { PoolClient } from 'pg';
import { explainConnecting } from './unavailable.ts';

/** How a database is opened. */
export interface OpenDatabaseOptions {
  /** Address with user and password: a secret. */
  url: string;
  /** Connections at most; 5 when absent. An agent takes 2. */
  max?: number;
  /** The name under which the server lists our connections. */
  applicationName?: string;
  /** Told when a connection that nobody was using broke. */
  log?: (message: string) => void;
}

/** An open database: a small pool of connections, and the query builder over it. */
export interface Database<Schema> {
  /** The query builder. `bigint` and `numeric` columns come as strings, `timestamptz` as Date, `json` parsed. */
  db: Kysely<Schema>;
  /** The pool below, for what the query builder does not cover. */
  pool: Pool;
  /** Waits for the queries under way and closes every connection; calling it again does no harm. */
  close(): Promise<void>;
}

/**
 * Opens a database. No connection is made before the first query, and one that breaks is replaced at the next query,
 * so a restart of the server costs the queries under way and no more.
 *
 * Waiting for a connection ends with an error after 10 s; one that the server refuses because it has no more to give
 * is a `TooManyConnectionsError`.
 *
 * @typeParam Schema the tables, as Kysely wants them.
 */
export function openDatabase<Schema>(options: OpenDatabaseOptions): Database<Schema> {
  const { url, max = 5, applicationName = 'landfall', log } = options;
  const pool = new ExplainingPool({
    connectionString: url,
    max,
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  });
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', (error) => log?.(`A connection to the database was lost: ${error.message}`));
  // So would the loss of one that somebody holds between two queries: the next one tells that it is gone.
  pool.on('connect', (client) => client.on('error', () => undefined));
  let closed: Promise<void> | undefined;
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  return { db, pool, close: () => (closed ??= db.destroy().then(() => (pool.ending ? undefined : pool.end()))) };
}

/** A pool whose refusals say what to change, whether one asks for a connection or for a query. */
class ExplainingPool extends Pool {
  override connect(): Promise<PoolClient>;
  override connect(callback: Parameters<Pool['connect']>[0]): void;
  override connect(callback?: Parameters<Pool['connect']>[0]): Promise<PoolClient> | void {
    if (callback !== undefined) {
      return super.connect((error, client, done) =>
        callback(error === undefined ? error : explainConnecting(error), client, done),
      );
    }
    return super.connect().catch((error: unknown) => {
      throw explainConnecting(error);
    });
  }
}
