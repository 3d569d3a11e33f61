import type { Pool } from 'pg';
import type { StoredRun } from '../runs/run-row.ts';

/** A thread that somebody follows, as it stands now. */
export interface FollowedThread {
  thread_id: string;
  /** When somebody last wrote a state by hand; null where the newest state is a run's. */
  written_at: Date | null;
}

/** What is read of threads for those who follow them. */
export class ThreadRuns {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Those of the threads that are there. */
  async standing(threadIds: readonly string[]): Promise<FollowedThread[]> {
    const { rows } = await this.#pool.query<FollowedThread>({
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

  /**
   * The runs of the threads that are carried out now, or ended after `since` (ms), in the order of their acceptance.
   *
   * @param known the ids of those that need not be told.
   */
  async recent(threadIds: readonly string[], since: number, known: readonly string[]): Promise<StoredRun[]> {
    const { rows } = await this.#pool.query<StoredRun>(
      `select * from runs
       where thread_id = any($1::uuid[]) and (status = 'running' or ended_at > $2) and run_id <> all($3::uuid[])
       order by sequence`,
      [threadIds, new Date(since), known],
    );
    return rows;
  }

  /** The runs of a thread that ended between two times (ms), the last ones where there are many, in their order. */
  async endedBetween(threadId: string, after: number, until: number, most: number): Promise<StoredRun[]> {
    const { rows } = await this.#pool.query<StoredRun>(
      `select * from (
         select * from runs where thread_id = $1 and ended_at > $2 and ended_at <= $3 order by sequence desc limit $4
       ) as last order by sequence`,
      [threadId, new Date(after), new Date(until), most],
    );
    return rows;
  }
}
