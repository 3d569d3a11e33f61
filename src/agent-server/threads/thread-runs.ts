import type { Pool } from 'pg';
import type { StoredRun } from '../runs/run-row.ts';

/** The current state of a followed thread. */
export interface FollowedThread {
  thread_id: string;
  /** When the last manual update happened; null if the newest state is a run's. */
  written_at: Date | null;
}

/** Reads threads and their runs for followers. */
export class ThreadRuns {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The existing ones of these threads. */
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
   * The runs of the threads that are running, or ended after `since` (ms), in the order of acceptance.
   *
   * @param known the ids of runs to leave out.
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

  /** The runs of a thread that ended between two times (ms), in order; the last ones if there are many. */
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
