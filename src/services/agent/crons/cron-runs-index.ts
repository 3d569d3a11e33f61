import type { Pool } from 'pg';
import { openDatabase } from '../../../kit/postgres/database.ts';
import type { Logger } from '../../../kit/logger.ts';
import { logFailure } from '../storage/poll.ts';

const name = 'runs_of_crons';
/** How long (ms) a statement may wait for transactions of other processes, whose rows the index has to have. */
const statementMs = 30_000;

/**
 * Creates the index for the runs of a cron, which have its id in their metadata, in the background: it waits for the
 * transactions under way, and without it only that list is slow. Not in a migration: the previous revision writes runs
 * meanwhile. An unfinished one is invalid, and the next start replaces it. Logs a failure.
 *
 * @returns a function that ends it and waits for that.
 */
export function indexCronRuns({ url, pool, log }: { url: string; pool: Pool; log: Logger }): () => Promise<void> {
  const stop = new AbortController();
  // A connection of its own: the pool's are for runs.
  const own = openDatabase({ url, max: 1, applicationName: 'landfall-agent index', log });
  const index = async (): Promise<void> => {
    try {
      await createIndex(own.pool, pool, stop.signal);
    } finally {
      await own.close();
    }
  };
  const indexing = index().catch((error: unknown) => {
    if (!stop.signal.aborted) logFailure(log, 'The runs of crons could not be indexed')(error);
  });
  return async () => {
    stop.abort();
    await indexing;
  };
}

async function createIndex(own: Pool, pool: Pool, signal: AbortSignal): Promise<void> {
  const { rows } = await own.query<{ indisvalid: boolean }>(
    'select indisvalid from pg_index where indexrelid = to_regclass($1)',
    [name],
  );
  if (rows[0]?.indisvalid === true) return;
  const client = await own.connect();
  let cancelled: Promise<unknown> | undefined;
  try {
    // A process that waits for the lock would keep the index waiting.
    const lock = await client.query<{ taken: boolean; pid: number }>(
      "select pg_try_advisory_lock(hashtext('landfall indexes')) as taken, pg_backend_pid() as pid",
    );
    if (lock.rows[0]?.taken !== true) return;
    const { pid } = lock.rows[0];
    await client.query(`set statement_timeout = ${statementMs}`);
    if (signal.aborted) return;
    signal.addEventListener('abort', () => {
      cancelled = pool.query('select pg_cancel_backend($1)', [pid]).catch(() => undefined);
    });
    if (rows.length > 0) await client.query(`drop index concurrently if exists ${name}`);
    if (signal.aborted) return;
    await client.query(
      `create index concurrently if not exists ${name} on runs ((metadata ->> 'cron_id'), created_at desc) where metadata ? 'cron_id'`,
    );
  } finally {
    await cancelled;
    // Closes the connection, and with it the lock and the setting.
    client.release(true);
  }
}
