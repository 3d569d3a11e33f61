import { sql } from 'kysely';
import type { StoredRun } from '../runs/run-row.ts';
import type { Storage } from '../storage/open.ts';

export interface ThreadUpdate {
  thread_id: string;
  /** When the last manual update happened; null if the newest state is a run's. */
  written_at: Date | null;
}

/** Which of these threads exist. */
export async function existingThreads(storage: Storage, threadIds: readonly string[]): Promise<ThreadUpdate[]> {
  const { rows } = await storage.pool.query<ThreadUpdate>({
    name: 'followed-threads',
    text: `
      select thread_id, case when not exists (
        select from runs where runs.thread_id = threads.thread_id and runs.ended_at = threads.state_updated_at
      ) then state_updated_at end as written_at
      from threads where thread_id = any($1::uuid[])`,
    values: [threadIds],
  });
  return rows;
}

/** The runs that are running, or ended after `since` (ms), in the order of acceptance, without the `known` ones. */
export function recentRuns(
  storage: Storage,
  threadIds: readonly string[],
  since: number,
  known: readonly string[],
): Promise<StoredRun[]> {
  return storage.db
    .selectFrom('runs')
    .selectAll()
    .where(sql<boolean>`thread_id = any(${threadIds}::uuid[])`)
    .where((or) => or.or([or('status', '=', 'running'), or('ended_at', '>', new Date(since))]))
    .where(sql<boolean>`run_id <> all(${known}::uuid[])`)
    .orderBy('sequence')
    .execute();
}

/** The runs of a thread that ended between two times (ms), in order; the last ones if there are many. */
export function runsEndedBetween(
  storage: Storage,
  threadId: string,
  after: number,
  until: number,
  max: number,
): Promise<StoredRun[]> {
  const last = storage.db
    .selectFrom('runs')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where('ended_at', '>', new Date(after))
    .where('ended_at', '<=', new Date(until))
    .orderBy('sequence', 'desc')
    .limit(max);
  return storage.db.selectFrom(last.as('last')).selectAll().orderBy('sequence').execute();
}
