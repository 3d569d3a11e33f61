import type { Pool, PoolClient } from 'pg';
import type { Querying } from '../runs/store.ts';
import { inTransaction } from './transaction.ts';

/** The outcome of removing a thread. */
export type Removal = 'removed' | 'missing' | 'busy';

/**
 * Deletes a thread with its runs, checkpoints, writes, and, by foreign keys, its crons. The thread's row is locked first,
 * so that no run can start on it.
 *
 * @param evenBusy also if runs on it are unfinished.
 */
export function removeThread(pool: Pool, threadId: string, { evenBusy }: { evenBusy: boolean }): Promise<Removal> {
  return inTransaction(pool, async (client) => {
    const state = await lockThread(client, threadId);
    if (state === 'missing' || (state === 'busy' && !evenBusy)) return state;
    await deleteLocked(client, threadId);
    return 'removed';
  });
}

/** Locks a thread's row until the transaction ends, and says whether runs on it are unfinished. */
export async function lockThread(client: PoolClient, threadId: string): Promise<'idle' | 'busy' | 'missing'> {
  const { rows } = await client.query<{ unfinished: number }>(
    'select unfinished from threads where thread_id = $1 for update',
    [threadId],
  );
  const [thread] = rows;
  if (!thread) return 'missing';
  return thread.unfinished > 0 ? 'busy' : 'idle';
}

/** Deletes a thread whose row this transaction has locked. */
export async function deleteLocked(client: Querying, threadId: string): Promise<void> {
  await client.query(deleteAll, [threadId]);
}

const deleteAll = `
  with events as (delete from run_events using runs where run_events.run_id = runs.run_id and runs.thread_id = $1::uuid),
    runs as (delete from runs where thread_id = $1::uuid),
    writes as (delete from checkpoint_writes where thread_id = $1::uuid::text),
    blobs as (delete from checkpoint_blobs where thread_id = $1::uuid::text),
    checkpoints as (delete from checkpoints where thread_id = $1::uuid::text)
  delete from threads where thread_id = $1::uuid`;
