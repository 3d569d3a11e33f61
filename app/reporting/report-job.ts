import type { Pool } from 'pg';
import type { WorkStore } from '../reconcile/store.ts';
import type { Queue } from '../../src/kit/postgres/queue.ts';
import { commitReportJob, type Report, reportJob, reportJobOf } from '../reconcile/report.ts';
import { sendReport, type ReportingContext } from './send-report.ts';
import { jobIdOf, jobsAbout, runJobAgain } from '../../src/kit/postgres/queue-jobs.ts';

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

/** Reports sent at the same time by their jobs, one of each installation. One with a long wait makes room. */
const lanes = [
  { name: reportJob, concurrency: 4 },
  { name: commitReportJob, concurrency: 2 },
];

/** All reports sent at the same time, each of which holds a connection for its lock. */
export const reportsAtOnce = lanes.reduce((sum, { concurrency }) => sum + concurrency, 0);

/** Works on the jobs of reports, until the queue stops. */
export async function startReportWorker(queue: Queue, context: ReportingContext): Promise<void> {
  // From now on, and not at a time: the clock that hands out jobs may be another than ours.
  const send: SendLater = async (data, { id, startAfter }) => {
    // Jobs that were stored by an earlier version have no group, and may have the other name.
    const { name, ...group } = jobFor(await context.store.report(data.id));
    const seconds = Math.max(0, startAfter.getTime() - context.clock.now()) / 1_000;
    await queue.send(name, data, { id, startAfter: seconds, ...group });
  };
  for (const { name, concurrency } of lanes) {
    await queue.define(name, reportPolicy);
    const options = { concurrency, oneOfGroup: true };
    await queue.work<ReportJobData>(name, options, ({ data }) => workOnReport(data, context, send));
  }
}

/** A report that was dropped meanwhile has nothing to send, whichever job finds that out. */
const jobFor = (report: Report | undefined): { name: string; group?: string } =>
  report === undefined ? { name: reportJob } : reportJobOf(report);

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

/** The same id for the same report and time (ms since the epoch) in every process. */
export const laterJobId = (reportId: string, at: number): string => jobIdOf(`${reportId} ${at}`);

/**
 * Ensures a job for each of these reports. A scheduled one is enough, and a failed one is retried instead of adding
 * another: a report that GitHub refuses for days has one job.
 */
export async function giveReportJobs(
  reportIds: readonly string[],
  { pool, queue, store }: { pool: Pool; queue: Pick<Queue, 'sendMany'>; store: Pick<WorkStore, 'report'> },
): Promise<void> {
  const there = await jobsAbout(pool, [reportJob, commitReportJob], reportIds);
  for (const id of reportIds) {
    const job = there.get(id);
    if (job?.state === 'failed') await runJobAgain(pool, job.id);
    if (job !== undefined) continue;
    const { name, ...group } = jobFor(await store.report(id));
    await queue.sendMany(name, [{ data: { id }, ...group }]);
  }
}
