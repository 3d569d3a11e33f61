import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { hasCode, stackOf } from '../errors.ts';
import type { PgBoss } from 'pg-boss';
import { type Clock, pause } from '../clock.ts';

/** A job that failed, or that waits to be repeated after it did. */
export interface FailingJob {
  id: string;
  name: string;
  data: unknown;
  /** `failed`: for good; `retry`: it comes again by itself. */
  state: 'failed' | 'retry';
  /** How often it was tried. */
  attempts: number;
  createdAt: Date;
  /** When it comes again, or when it failed for good. */
  at: Date;
  /** What the last attempt said. */
  problem: string;
}

/** How many jobs of a name there are in a state; those that are done are not counted. */
export interface JobCount {
  name: string;
  state: string;
  count: number;
}

async function rowsOf<Row extends object>(pool: Pool, text: string, values: unknown[] = []): Promise<Row[]> {
  try {
    return (await pool.query<Row>(text, values)).rows;
  } catch (error) {
    // A database in which there never was a queue has no tables (42P01), and no jobs.
    if (hasCode(error, '42P01')) return [];
    throw error;
  }
}

/** The failing jobs, newest first. */
export async function failingJobs(pool: Pool, limit: number): Promise<FailingJob[]> {
  return rowsOf<FailingJob>(
    pool,
    `select id, name, data, state, retry_count + 1 as attempts, created_on as "createdAt",
       case when state = 'failed' then completed_on else start_after end as at,
       coalesce(output ->> 'message', 'its process ended, or it took too long') as problem
     from pgboss.job where state in ('failed', 'retry') order by created_on desc limit $1`,
    [limit],
  );
}

/** Has a job that failed run again, or one that waits for its repetition run now. Workers find it within seconds. */
export async function runJobAgain(pool: Pool, id: string): Promise<{ name: string } | undefined> {
  const rows = await rowsOf<{ name: string }>(
    pool,
    `update pgboss.job set state = 'retry', retry_limit = greatest(retry_limit, retry_count + 1), completed_on = null,
       start_after = now()
     where id = $1 and state in ('failed', 'retry') returning name`,
    [id],
  );
  return rows[0];
}

/** Of each subject (`id` in a job's data) one job that has not ended well: one to come, else the newest failed one. */
export async function jobsAbout(
  pool: Pool,
  names: readonly string[],
  about: readonly string[],
): Promise<Map<string, { id: string; state: 'to-come' | 'failed' }>> {
  if (about.length === 0) return new Map();
  const rows = await rowsOf<{ about: string; id: string; failed: boolean }>(
    pool,
    `select distinct on (data ->> 'id') data ->> 'id' as about, id, state = 'failed' as failed from pgboss.job
     where name = any($1) and state in ('created', 'retry', 'active', 'failed') and data ->> 'id' = any($2)
     order by data ->> 'id', state = 'failed', created_on desc`,
    [[...names], [...about]],
  );
  return new Map(rows.map(({ about: of, id, failed }) => [of, { id, state: failed ? 'failed' : 'to-come' }]));
}

/** How many jobs wait, run or failed, by name. */
export async function countJobs(pool: Pool): Promise<JobCount[]> {
  return rowsOf<JobCount>(
    pool,
    `select name, state, count(*)::float8 as count from pgboss.job where state in ('created', 'retry', 'active', 'failed')
     group by name, state`,
  );
}

/** The interval of the search for jobs that a clock which was set back delays (ms). */
const pollMs = 30_000;

/**
 * Brings jobs forward that the database's clock, set back since they were sent, would keep waiting until it is that
 * time again: one of the future waits for as long as it was sent to wait, from now on; a repetition, none of which
 * waits for an hour, comes at once. What is under way began now at the latest, so that it is missed when its process is
 * gone.
 */
async function repairJobTimes(boss: PgBoss, schema: string): Promise<void> {
  const now = `"${schema}".job_now()`;
  await boss.getDb().executeSql(`
    update "${schema}".job set created_on = least(created_on, ${now}),
      start_after = ${now} + case when state = 'created' then greatest(start_after - created_on, interval '0') else interval '0' end
    where state = 'created' and created_on > ${now} + interval '1 minute'
      or state = 'retry' and start_after > ${now} + interval '1 hour'`);
  await boss.getDb().executeSql(`
    update "${schema}".job set started_on = ${now}, heartbeat_on = least(heartbeat_on, ${now})
    where state = 'active' and started_on > ${now} + interval '1 minute'`);
}

/** Repeats it at an interval until the signal aborts. Logs failures and retries. */
export async function repairJobTimesPeriodically(
  boss: PgBoss,
  schema: string,
  { clock, signal, report }: { clock: Clock; signal: AbortSignal; report: (message: string) => void },
): Promise<void> {
  while (!signal.aborted) {
    await repairJobTimes(boss, schema).catch((error: unknown) => {
      if (!signal.aborted) report(`The job queue has a problem and goes on: ${stackOf(error)}`);
    });
    await pause(clock, pollMs, signal);
  }
}

/** The same uuid for the same text in every process, so that a job that is sent twice exists once. */
export function jobIdOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
