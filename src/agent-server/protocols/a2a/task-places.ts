import type { Pool } from 'pg';
import { isUuid } from '../../../contract/uuid.ts';

/** The metadata key of a run that continues a task of another run. */
export const taskMetadata = 'a2a_task_id';

/** The location of a task. */
export interface TaskPlace {
  threadId: string;
  /** The latest run of the task. */
  runId: string;
}

/** Finds a task by its id, which is the id of its first run; undefined if there is none. */
export type FindTask = (taskId: string) => Promise<TaskPlace | undefined>;

/** Finds tasks among the runs of a deployment: callers may name a task without its context. */
export function tasksIn(pool: Pool): FindTask {
  return async (taskId) => {
    if (!isUuid(taskId)) return undefined;
    const { rows } = await pool.query<{ thread_id: string; run_id: string }>({
      text: `select thread_id, run_id from runs
        where thread_id = (select thread_id from runs where run_id = $1::uuid)
          and (run_id = $1::uuid or metadata ->> '${taskMetadata}' = $1::text)
        order by sequence desc limit 1`,
      values: [taskId.toLowerCase()],
    });
    const [row] = rows;
    return row && { threadId: row.thread_id, runId: row.run_id };
  };
}
