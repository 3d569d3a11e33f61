import type { Queue } from '../../src/postgres/queue.ts';
import { sql } from 'kysely';
import type { QueueState, Moved } from './queue-state.ts';
import { recordColumns, recordOf } from './postgres-rows.ts';
import type { QueueRow, WorkTransaction } from './tables.ts';

/** Job that reconciles a deployment queue. */
export const reconcileJob = 'lane';

/** The database's own time (ms since the epoch). */
export const databaseNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::double precision`;

/** A queue's row with the database's time: the clocks of several processes may differ. */
export interface LockedQueue extends QueueRow {
  database_now: number;
}

/** Selects queues and locks their rows until the transaction ends. */
export const lockingQueues = (tx: WorkTransaction) =>
  tx.selectFrom('queues').selectAll().select(databaseNow.as('database_now')).forUpdate();

/** Locks the queue's row until the transaction ends. */
export async function lockQueue(tx: WorkTransaction, deploymentId: string): Promise<LockedQueue> {
  const find = () => lockingQueues(tx).where('deployment_id', '=', deploymentId).executeTakeFirst();
  const there = await find();
  if (there) return there;
  await tx
    .insertInto('queues')
    .values({ deployment_id: deploymentId, lease_until: 0, notified_seq: 0, processed_seq: 0 })
    .onConflict((conflict) => conflict.column('deployment_id').doNothing())
    .execute();
  const made = await find();
  if (!made) throw new Error(`The queue of deployment ${deploymentId} was neither found nor created.`);
  return made;
}

/** Applies a transition to a locked queue, and sends the job that it requires. `now` is the database's time. */
export async function updateQueue<Extra>(
  tx: WorkTransaction,
  queue: Pick<Queue, 'send'>,
  deploymentQueue: QueueRow,
  now: number,
  move: (record: QueueState) => Moved<Extra>,
): Promise<{ record: QueueState; extra: Extra }> {
  const { record, job, extra } = move(recordOf(deploymentQueue));
  await tx
    .updateTable('queues')
    .set(recordColumns(record))
    .where('deployment_id', '=', deploymentQueue.deployment_id)
    .execute();
  if (job !== undefined) {
    const startAfter = job > now ? { startAfter: (job - now) / 1_000 } : {};
    await queue.send(reconcileJob, { deploymentId: deploymentQueue.deployment_id }, { ...startAfter, db: tx });
  }
  return { record, extra };
}
