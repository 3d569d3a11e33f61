import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { openDatabase, type Database } from '../../postgres/database.ts';
import { migrate } from '../../postgres/migrate.ts';
import { logFailure } from '../runs/poll.ts';
import { migrations } from './migrations.ts';
import type { Tables } from './tables.ts';
import type { Logger } from '../../logger.ts';

export type Storage = Database<Tables>;

/** The connections of an agent: its deployment's share of the database server's. */
const mostConnections = 2;
/** How long (ms) a query may wait for a connection: when many runs start at once, the database is still available. */
const connectionWaitMs = 60_000;

/**
 * The application name of a process's connections. Other processes of the deployment detect by it whether this one is
 * alive: a killed process loses its connections at once.
 */
export const applicationName = (processId: string): string => `landfall-agent ${processId}`;

/** Opens a deployment's database and applies the migrations. */
export async function openStorage(url: string, processId: string, log: Logger): Promise<Storage> {
  const storage = openDatabase<Tables>({
    url,
    max: mostConnections,
    applicationName: applicationName(processId),
    waitMs: connectionWaitMs,
    log,
  });
  try {
    await migrate(storage.db, migrations, { table: 'agent_migrations' });
    await setUpCheckpoints(storage);
    await indexCronRuns(storage).catch(logFailure(log, 'The runs of crons could not be indexed'));
  } catch (error) {
    await storage.close();
    throw error;
  }
  return storage;
}

const cronRunsIndex = 'runs_of_crons';
/** How long (ms) the start may wait for the index. */
const indexMs = 30_000;

/**
 * Creates the index for the runs of a cron, which have its id in their metadata. Not in a migration: the former revision
 * writes runs meanwhile. An unfinished one is invalid, and the next start replaces it.
 */
async function indexCronRuns({ pool }: Storage): Promise<void> {
  const { rows } = await pool.query<{ indisvalid: boolean }>(
    'select indisvalid from pg_index where indexrelid = to_regclass($1)',
    [cronRunsIndex],
  );
  if (rows[0]?.indisvalid === true) return;
  const client = await pool.connect();
  try {
    // A process that waits for the lock would keep the index waiting.
    const lock = await client.query<{ taken: boolean }>(
      "select pg_try_advisory_lock(hashtext('landfall indexes')) as taken",
    );
    if (lock.rows[0]?.taken !== true) return;
    await client.query(`set statement_timeout = ${indexMs}`);
    if (rows.length > 0) await client.query(`drop index concurrently if exists ${cronRunsIndex}`);
    await client.query(
      `create index concurrently if not exists ${cronRunsIndex} on runs ((metadata ->> 'cron_id'), created_at desc) where metadata ? 'cron_id'`,
    );
  } finally {
    // Closes the connection, and with it the lock and the setting.
    client.release(true);
  }
}

/** Creates the checkpointer's tables, under a lock: the library does not support two processes doing it at once. */
async function setUpCheckpoints({ pool }: Storage): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext('landfall checkpoints'))");
    await new PostgresSaver(pool).setup();
  } finally {
    // A broken connection has released the lock, and its first error is the one to report.
    const unlocked = await client
      .query("select pg_advisory_unlock(hashtext('landfall checkpoints'))")
      .catch(() => undefined);
    client.release(unlocked === undefined);
  }
}
