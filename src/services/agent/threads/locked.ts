import type { Pool, PoolClient } from 'pg';
import { inTransaction, type Queryable } from '../storage/transaction.ts';

/** Changes a thread under its row's lock: no run can start on it. A busy one only if `evenBusy`. */
export function changeLocked(
  pool: Pool,
  threadId: string,
  change: (client: PoolClient) => Promise<void>,
  evenBusy: boolean,
): Promise<'done' | 'missing' | 'busy'> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ unfinished: number }>(
      'select unfinished from threads where thread_id = $1 for update',
      [threadId],
    );
    const [thread] = rows;
    if (!thread) return 'missing';
    if (thread.unfinished > 0 && !evenBusy) return 'busy';
    await change(client);
    return 'done';
  });
}

/** Deletes a locked thread with its runs, checkpoints, writes, and, by foreign keys, its crons. */
export async function deleteLocked(client: Queryable, threadId: string): Promise<void> {
  await client.query(deleteAll, [threadId]);
}

const deleteAll = `
  with events as (delete from run_events using runs where run_events.run_id = runs.run_id and runs.thread_id = $1::uuid),
    runs as (delete from runs where thread_id = $1::uuid),
    writes as (delete from checkpoint_writes where thread_id = $1::uuid::text),
    blobs as (delete from checkpoint_blobs where thread_id = $1::uuid::text),
    checkpoints as (delete from checkpoints where thread_id = $1::uuid::text)
  delete from threads where thread_id = $1::uuid`;
