import type { Pool } from 'pg';
import type { Queue } from '../../src/postgres/queue.ts';
import { jobsAbout, runJobAgain } from '../../src/postgres/queue-jobs.ts';
import { reportJob } from './report-job.ts';

/**
 * Ensures a job for each of these reports. A scheduled one is enough, and a failed one is retried instead of adding
 * another: a report that GitHub refuses for days has one job.
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
