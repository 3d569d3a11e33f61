import { sql } from 'kysely';
import { isUuid } from '../../../../kit/uuid.ts';
import type { Storage } from '../../storage/open.ts';

/** The metadata key of a run that continues a task of another run. */
export const taskMetadata = 'a2a_task_id';

/** The thread and the id of a run. */
export interface RunIds {
  threadId: string;
  runId: string;
}

/** Finds the latest run of a task by the task's id, which is the id of its first run; undefined if there is none. */
export type FindTask = (taskId: string) => Promise<RunIds | undefined>;

/** Finds tasks among the runs of a deployment: callers may name a task without its context. */
export function tasksIn({ db }: Storage): FindTask {
  return async (taskId) => {
    if (!isUuid(taskId)) return undefined;
    const id = taskId.toLowerCase();
    const row = await db
      .selectFrom('runs')
      .select(['thread_id', 'run_id'])
      .where('thread_id', '=', (of) => of.selectFrom('runs').select('thread_id').where('run_id', '=', id))
      .where((or) => or.or([or('run_id', '=', id), or(sql`metadata ->> ${sql.lit(taskMetadata)}`, '=', id)]))
      .orderBy('sequence', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && { threadId: row.thread_id, runId: row.run_id };
  };
}
