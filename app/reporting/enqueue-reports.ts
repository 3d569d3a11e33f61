import type { Pool } from 'pg';
import type { Queue } from '../../src/postgres/queue.ts';
import { jobsAbout, runJobAgain } from '../../src/postgres/queue-jobs.ts';
import { reportJob } from './report-job.ts';

/**
 * Sees to it that each of these reports has a job. One that is still to come is enough, and one that failed is run
 * again in the place of a new one beside it: so what GitHub refuses for days is one job, however often it is looked.
 */
export async function giveReportJobs(
  reportIds: readonly string[],
  { pool, queue }: { pool: Pool; queue: Pick<Queue, 'sendMany'> },
): Promise<void> {
  const there = await jobsAbout(pool, reportJob, reportIds);
  const without = reportIds.filter((id) => !there.has(id));
  await queue.sendMany(
    reportJob,
    without.map((id) => ({ data: { id } })),
  );
  for (const { id, state } of there.values()) if (state === 'failed') await runJobAgain(pool, id);
}
