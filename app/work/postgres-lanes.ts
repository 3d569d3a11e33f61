import type { Queue } from '../../src/database/queue.ts';
import { sql } from 'kysely';
import type { LaneRecord, Moved } from './lane-record.ts';
import { recordColumns, recordOf } from './postgres-rows.ts';
import type { LaneRow, WorkTransaction } from './tables.ts';

/** The name of the job that advances a lane. */
export const laneJob = 'lane';

/** The database's own time (ms since the epoch). */
export const databaseNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::double precision`;

/** A lane's row, and the database's time: that of several processes may differ. */
export interface LockedLane extends LaneRow {
  database_now: number;
}

/** The lane's row, which nobody else changes before the transaction ends. */
export async function lockLane(tx: WorkTransaction, deploymentId: string): Promise<LockedLane> {
  const find = () =>
    tx
      .selectFrom('lanes')
      .selectAll()
      .select(databaseNow.as('database_now'))
      .where('deployment_id', '=', deploymentId)
      .forUpdate()
      .executeTakeFirst();
  const there = await find();
  if (there) return there;
  await tx
    .insertInto('lanes')
    .values({ deployment_id: deploymentId, lease_until: 0, wakes: 0, heeded: 0 })
    .onConflict((conflict) => conflict.column('deployment_id').doNothing())
    .execute();
  const made = await find();
  if (!made) throw new Error(`the lane of deployment ${deploymentId} was neither found nor made`);
  return made;
}

/** Changes a locked lane by a rule, and sends the job that this calls for. `now` is of the clock that lanes go by. */
export async function moveLane<Extra>(
  tx: WorkTransaction,
  queue: Pick<Queue, 'send'>,
  lane: LaneRow,
  now: number,
  move: (record: LaneRecord) => Moved<Extra>,
): Promise<{ record: LaneRecord; extra: Extra }> {
  const { record, job, extra } = move(recordOf(lane));
  await tx.updateTable('lanes').set(recordColumns(record)).where('deployment_id', '=', lane.deployment_id).execute();
  if (job !== undefined) {
    const startAfter = job > now ? { startAfter: (job - now) / 1_000 } : {};
    await queue.send(laneJob, { deploymentId: lane.deployment_id }, { ...startAfter, db: tx });
  }
  return { record, extra };
}
