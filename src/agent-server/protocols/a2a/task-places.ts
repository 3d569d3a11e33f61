import type { Pool } from 'pg';

/** The metadata of a run that goes on with a task of another run: the task's id. */
export const TASK_METADATA = 'a2a_task_id';

/** Where a task lies. */
export interface TaskPlace {
  threadId: string;
  /** The run that went on with it last; its own where none did. */
  runId: string;
}

/** Finds where a task lies by its id, which is the id of its first run; undefined where there is none. */
export type FindTask = (taskId: string) => Promise<TaskPlace | undefined>;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Looks for tasks among the runs of a deployment: callers may name a task without its context. */
export function tasksIn(pool: Pool): FindTask {
  return async (taskId) => {
    if (!UUID.test(taskId)) return undefined;
    const { rows } = await pool.query<{ thread_id: string; run_id: string }>({
      text: `select thread_id, run_id from runs
        where thread_id = (select thread_id from runs where run_id = $1::uuid)
          and (run_id = $1::uuid or metadata ->> '${TASK_METADATA}' = $1::text)
        order by sequence desc limit 1`,
      values: [taskId.toLowerCase()],
    });
    const [row] = rows;
    return row && { threadId: row.thread_id, runId: row.run_id };
  };
}
