import type { RawBuilder } from 'kysely';
import type { Queue } from '../../src/kit/postgres/queue.ts';
import type { QueueState, QueueTransition } from './queue-state.ts';
import { recordColumns, recordOf, type QueueRow, type WorkTransaction } from './tables.ts';

/** Job that reconciles a deployment queue. */
export const reconcileJob = 'lane';

/** A queue's row with the time (ms since the epoch) at which it was locked. */
export interface LockedQueue extends QueueRow {
  now: number;
}

/** Selects queues and locks their rows until the transaction ends. */
export const lockingQueues = (tx: WorkTransaction, time: RawBuilder<number>) =>
  tx.selectFrom('queues').selectAll().select(time.as('now')).forUpdate();

/** Locks the queue's row until the transaction ends. */
export async function lockQueue(
  tx: WorkTransaction,
  time: RawBuilder<number>,
  deploymentId: string,
): Promise<LockedQueue> {
  const find = () => lockingQueues(tx, time).where('deployment_id', '=', deploymentId).executeTakeFirst();
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

/** Applies a transition to a locked queue, and sends the job that it requires. */
export async function updateQueue<Extra>(
  tx: WorkTransaction,
  queue: Pick<Queue, 'send'>,
  { now, ...row }: LockedQueue,
  move: (record: QueueState, now: number) => QueueTransition<Extra>,
): Promise<{ record: QueueState; extra: Extra }> {
  const { record, job, extra } = move(recordOf(row), now);
  const deploymentId = row.deployment_id;
  await tx.updateTable('queues').set(recordColumns(record)).where('deployment_id', '=', deploymentId).execute();
  if (job !== undefined) {
    const startAfter = job > now ? { startAfter: (job - now) / 1_000 } : {};
    await queue.send(reconcileJob, { deploymentId }, { ...startAfter, db: tx });
  }
  return { record, extra };
}
