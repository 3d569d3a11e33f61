import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import type { Queue } from '../../src/postgres/queue.ts';
import { sendReport, type ReportingContext } from './send-report.ts';
import { jobsAbout, runJobAgain } from '../../src/postgres/queue-jobs.ts';

/** The jobs that send reports to GitHub. */
export const reportJob = 'report';

/** What such a job holds: the report, and for which time it was sent (ms since the epoch), where that was later. */
export interface ReportJobData {
  id: string;
  at?: number;
}

/**
 * A job fails only where GitHub refuses for good, which some attempts more do not change: then it stays, to be seen
 * and run again by a person. What passes by itself is a job for a later time.
 */
const reportPolicy = { retryLimit: 5, retryDelay: 10, retryDelayMax: 300, expireInSeconds: 10 * 60 };

/** Options of the report workers. */
export interface ReportWorkerOptions {
  /** Concurrent reports; 4 when absent. One with a long wait makes room for others. */
  concurrency?: number;
}

/** Works on the jobs of reports, until the queue stops. */
export async function startReportWorker(
  queue: Queue,
  context: ReportingContext,
  { concurrency = 4 }: ReportWorkerOptions = {},
): Promise<void> {
  await queue.define(reportJob, reportPolicy);
  // From now on, and not at a time: the clock that hands out jobs may be another than ours.
  const send: SendLater = async (data, { id, startAfter }) =>
    void (await queue.send(reportJob, data, {
      id,
      startAfter: Math.max(0, startAfter.getTime() - context.clock.now()) / 1_000,
    }));
  await queue.work<ReportJobData>(reportJob, { concurrency }, ({ data }) => workOnReport(data, context, send));
}

/** Sends the job of a report for a later time; one of an id that is there already is not sent again. */
export type SendLater = (data: ReportJobData, options: { id: string; startAfter: Date }) => Promise<void>;

/** One job: sends the report, and schedules another job for the rest. */
export async function workOnReport(
  { id, at: sentFor = 0 }: ReportJobData,
  context: ReportingContext,
  send: SendLater,
): Promise<void> {
  const { again } = await sendReport(id, context);
  if (again === undefined) return;
  // At most one job per report and second; never this one again, even if clocks differ.
  const at = Math.max(Math.ceil(again / 1000) * 1000, sentFor + 1000);
  await send({ id, at }, { id: laterJobId(id, at), startAfter: new Date(at) });
}

/** A uuid that is the same for the same report and time (ms since the epoch). */
export function laterJobId(reportId: string, at: number): string {
  const hash = createHash('sha256').update(`${reportId} ${at}`).digest('hex');
  const variant = ((Number.parseInt(hash.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(18, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}

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
