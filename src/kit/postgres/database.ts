import { Kysely, PostgresDialect } from 'kysely';
import { Client, Pool, type ClientConfig, type PoolClient } from 'pg';
import { typeParsers } from './byte-arrays.ts';
import { explainConnecting } from './unavailable.ts';
import type { Logger } from '../logger.ts';

interface OpenDatabaseOptions {
  /** Address with user and password: a secret. */
  url: string;
  /** Connections at most; 5 when absent. An agent takes 2. */
  max?: number;
  /** The name under which the server lists our connections. */
  applicationName?: string;
  /** How long (ms) a query may wait until one of the connections is free; 10,000 when absent. */
  waitMs?: number;
  /** Called when an unused connection broke. */
  log?: Logger;
  /** Parses `json` and `jsonb`; `JSON.parse` when absent. */
  parseJson?: ((text: string) => unknown) | undefined;
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

const connectMs = 10_000;

/**
 * Opens a database. No connection is made before the first query, and one that breaks is replaced at the next query,
 * so a restart of the server costs the queries under way and no more. Connecting fails after 10 s, waiting for a free
 * connection after `waitMs`, and with a `TooManyConnectionsError` where the server has no more to give.
 */
export function openDatabase<Schema>(options: OpenDatabaseOptions): Database<Schema> {
  const { url, max = 5, applicationName = 'landfall', waitMs = connectMs, log, parseJson } = options;
  const pool = new ExplainingPool({
    connectionString: url,
    max,
    application_name: applicationName,
    types: typeParsers(parseJson),
    connectionTimeoutMillis: waitMs,
    Client: QueuedClient,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  });
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', (error) => log?.warn(`A connection to the database was lost: ${error.message}`));
  // So would the loss of a connection that is held between two queries: the next query reports it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  let closed: Promise<void> | undefined;
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  return { db, pool, close: () => (closed ??= db.destroy().then(() => (pool.ending ? undefined : pool.end()))) };
}

/** A connection that is not waited for as long as a query waits for its turn. */
class QueuedClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(typeof config === 'object' ? { ...config, connectionTimeoutMillis: connectMs } : config);
  }
}

/** A pool whose errors say what to change, for connections and for queries. */
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
