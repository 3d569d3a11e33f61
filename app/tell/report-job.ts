import { createHash } from 'node:crypto';
import type { Queue } from '../../src/database/queue.ts';
import { tellReport, type TellingWorld } from './tell-report.ts';

/** The jobs that bring GitHub in line: `{ id }` of a report. */
export const reportJob = 'report';

/**
 * A job fails only where GitHub refuses for good, which some attempts more do not change: then it stays, to be seen
 * and run again by a person. What passes by itself is a job for a later time.
 */
const reportPolicy = { retryLimit: 5, retryDelay: 10, retryDelayMax: 300, expireInSeconds: 10 * 60 };

/** How this process tells reports. */
export interface ReportWorkerOptions {
  /** Reports at the same time; 4 when absent. One that would have to wait long makes room for others. */
  concurrency?: number;
}

/** Works on the jobs of reports, until the queue stops. */
export async function startReportWorker(
  queue: Queue,
  world: TellingWorld,
  { concurrency = 4 }: ReportWorkerOptions = {},
): Promise<void> {
  await queue.define(reportJob, reportPolicy);
  await queue.work<{ id: string }>(reportJob, { concurrency }, async ({ data: { id } }) => {
    const { again } = await tellReport(id, world);
    if (again === undefined) return;
    // One job for a report and a second, however many jobs asked for it.
    const at = Math.ceil(again / 1000) * 1000;
    await queue.send(reportJob, { id }, { id: laterJobId(id, at), startAfter: new Date(at) });
  });
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
