import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { openDatabase } from '../../postgres/database.ts';
import type { Database } from '../../postgres/database.ts';
import { migrate } from '../../postgres/migrate.ts';
import { migrations } from './migrations.ts';
import type { Tables } from './tables.ts';

export type Storage = Database<Tables>;

/** Connections an agent may take: its deployment's share of what the server gives out. */
const CONNECTIONS = 2;
/** How long (ms) a query may wait for one of them: when many runs begin at once on a busy machine, the database is not away. */
const WAIT_MS = 60_000;

/**
 * The name under which the server lists the connections of one process. It is how other processes of the deployment
 * see whether this one lives: a killed process loses its connections at once.
 */
export const applicationName = (processId: string): string => `landfall-agent ${processId}`;

/** Opens a deployment's database and brings its tables to this program's form. */
export async function openStorage(url: string, processId: string, log: (line: string) => void): Promise<Storage> {
  const storage = openDatabase<Tables>({
    url,
    max: CONNECTIONS,
    applicationName: applicationName(processId),
    waitMs: WAIT_MS,
    log,
  });
  try {
    await migrate(storage.db, migrations, { table: 'agent_migrations' });
    await setUpCheckpoints(storage);
  } catch (error) {
    await storage.close();
    throw error;
  }
  return storage;
}

/** The checkpointer's own tables. Two processes must not make them at once, which the library does not see to. */
async function setUpCheckpoints({ pool }: Storage): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext('landfall checkpoints'))");
    await new PostgresSaver(pool).setup();
  } finally {
    // A connection that broke has let go of the lock, and what broke it is the error that counts.
    const unlocked = await client
      .query("select pg_advisory_unlock(hashtext('landfall checkpoints'))")
      .catch(() => undefined);
    client.release(unlocked === undefined);
  }
}
