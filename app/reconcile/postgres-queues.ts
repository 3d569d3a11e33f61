import type { Queue } from '../../src/postgres/queue.ts';
import { sql } from 'kysely';
import type { QueueState, Moved } from './queue-state.ts';
import { recordColumns, recordOf } from './postgres-rows.ts';
import type { QueueRow, WorkTransaction } from './tables.ts';

/** The name of the job that advances a lane. */
export const reconcileJob = 'lane';

/** The database's own time (ms since the epoch). */
export const databaseNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::double precision`;

/** A lane's row, and the database's time: that of several processes may differ. */
export interface LockedQueue extends QueueRow {
  database_now: number;
}

/** The lane's row, which nobody else changes before the transaction ends. */
export async function lockQueue(tx: WorkTransaction, deploymentId: string): Promise<LockedQueue> {
  const find = () =>
    tx
      .selectFrom('queues')
      .selectAll()
      .select(databaseNow.as('database_now'))
      .where('deployment_id', '=', deploymentId)
      .forUpdate()
      .executeTakeFirst();
  const there = await find();
  if (there) return there;
  await tx
    .insertInto('queues')
    .values({ deployment_id: deploymentId, lease_until: 0, notified_seq: 0, processed_seq: 0 })
    .onConflict((conflict) => conflict.column('deployment_id').doNothing())
    .execute();
  const made = await find();
  if (!made) throw new Error(`the lane of deployment ${deploymentId} was neither found nor made`);
  return made;
}

/** Changes a locked lane by a rule, and sends the job that this calls for. `now` is of the clock that lanes go by. */
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
