import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { parseExactly } from '../../../kit/exact-number.ts';
import { openDatabase, type Database } from '../../../kit/postgres/database.ts';
import { migrate } from '../../../kit/postgres/migrate.ts';
import { indexCronRuns } from '../crons/cron-runs-index.ts';
import { migrations } from './migrations.ts';
import type { Tables } from './tables.ts';
import type { Logger } from '../../../kit/logger.ts';

export type Storage = Database<Tables>;

/** The connections of an agent: its deployment's share of the database server's. */
const maxConnections = 2;
/** How long (ms) a query may wait for a connection: when many runs start at once, the database is still available. */
const connectionWaitMs = 60_000;

/**
 * The application name of a process's connections. Other processes of the deployment detect by it whether this one is
 * alive: a killed process loses its connections at once.
 */
export const applicationName = (processId: string): string => `landfall-agent ${processId}`;

/** Opens a deployment's database, migrated. @param options.keepsNumbers reads JSON's numbers as written. */
export async function openStorage(
  url: string,
  processId: string,
  log: Logger,
  { keepsNumbers = false } = {},
): Promise<Storage> {
  const storage = openDatabase<Tables>({
    url,
    max: maxConnections,
    applicationName: applicationName(processId),
    waitMs: connectionWaitMs,
    log,
    parseJson: keepsNumbers ? parseExactly : undefined,
  });
  try {
    await migrate(storage.db, migrations, { table: 'agent_migrations' });
    await setUpCheckpoints(storage);
  } catch (error) {
    await storage.close();
    throw error;
  }
  const endIndexing = indexCronRuns({ url, pool: storage.pool, log });
  let closed: Promise<void> | undefined;
  return { ...storage, close: () => (closed ??= endIndexing().then(() => storage.close())) };
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
