import { sql } from 'kysely';
import type { ActivityCount, DeploymentSummary } from '../../../contract/control/deployment-summary.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { ControlDatabase } from '../store/tables.ts';
import { mergeLimit, quarterSeconds, type FiguresRow, type HealthRange, type HealthRow } from './figures.ts';

interface Deploy {
  revision_id: string;
  at: Date;
}

/** The steps of an activity, which covers an hour. */
const activitySeconds = 120;
const activitySteps = 30;
const maxDeploys = 200;
const maxMergedRows = 5_000;

const columns = sql`deployment_id, step_seconds, at, requests, errors, runs, failed_runs, interrupted_runs, run_times,
  first_events, memory_bytes, cpu_ms, sampled_ms, queue_length`;

/** Sums over a group of rows. */
const totals = sql`sum(requests)::int as requests, sum(errors)::int as errors, sum(runs)::int as runs,
  sum(failed_runs)::int as failed_runs, sum(interrupted_runs)::int as interrupted_runs, control.total_counts(run_times) as run_times,
  control.total_counts(first_events) as first_events, max(memory_bytes) as memory_bytes, sum(cpu_ms) as cpu_ms,
  sum(sampled_ms) as sampled_ms, max(queue_length) as queue_length`;

const addToExisting = sql`on conflict (deployment_id, step_seconds, at) do update set
  requests = kept.requests + excluded.requests, errors = kept.errors + excluded.errors,
  runs = kept.runs + excluded.runs, failed_runs = kept.failed_runs + excluded.failed_runs,
  interrupted_runs = kept.interrupted_runs + excluded.interrupted_runs,
  run_times = coalesce(control.add_counts(kept.run_times, excluded.run_times), kept.run_times, excluded.run_times),
  first_events =
    coalesce(control.add_counts(kept.first_events, excluded.first_events), kept.first_events, excluded.first_events),
  memory_bytes = greatest(kept.memory_bytes, excluded.memory_bytes),
  cpu_ms = kept.cpu_ms + excluded.cpu_ms, sampled_ms = kept.sampled_ms + excluded.sampled_ms,
  queue_length = greatest(kept.queue_length, excluded.queue_length)`;

/** The start of the period of this length that a row is in. */
const periodStart = (seconds: number) => sql`to_timestamp(floor(extract(epoch from at) / ${seconds}) * ${seconds})`;

/**
 * Adds figures to the stored ones; ignores those of deleted deployments. Every statement locks rows in the order of
 * step, deployment and time, so that no two statements deadlock.
 */
export async function addFigures(db: ControlDatabase, rows: readonly FiguresRow[]): Promise<void> {
  if (rows.length === 0) return;
  const json = JSON.stringify(
    rows.map(({ at, run_times, first_events, ...row }) => ({
      ...row,
      at: new Date(at),
      run_times: run_times.length === 0 ? null : run_times,
      first_events: first_events.length === 0 ? null : first_events,
    })),
  );
  await sql`
    insert into control.health_figures as kept (${columns})
    select added.* from jsonb_to_recordset(${json}::jsonb) as added (
      deployment_id uuid, step_seconds int, at timestamptz, requests int, errors int, runs int, failed_runs int,
      interrupted_runs int, run_times int[], first_events int[], memory_bytes bigint, cpu_ms int, sampled_ms int, queue_length int
    )
    join control.deployments on deployments.id = added.deployment_id
    order by added.step_seconds, added.deployment_id, added.at
    for key share of deployments
    ${addToExisting}`.execute(db);
}

/** Health figures of deployments. */
export const healthStore = (db: ControlDatabase, clock: Clock) => ({
  addFigures: (rows: readonly FiguresRow[]) => addFigures(db, rows),

  /** The figures of a range by its steps, oldest first; omits steps without figures. */
  async readHealth(deploymentId: string, { from, until, stepSeconds }: HealthRange): Promise<HealthRow[]> {
    const { rows } = await sql<
      Omit<HealthRow, 'memory_bytes' | 'cpu_ms' | 'sampled_ms'> & {
        memory_bytes: string | null;
        cpu_ms: string;
        sampled_ms: string;
      }
    >`
      select ${periodStart(stepSeconds)} as at, ${totals} from control.health_figures
      where deployment_id = ${deploymentId} and at >= ${new Date(from)} and at < ${new Date(until)}
      group by 1 order by 1`.execute(db);
    return rows.map((row) => ({
      ...row,
      memory_bytes: row.memory_bytes === null ? null : Number(row.memory_bytes),
      cpu_ms: Number(row.cpu_ms),
      sampled_ms: Number(row.sampled_ms),
    }));
  },

  /** The revisions of a deployment that went live within a range, oldest first; the last 200. */
  async readDeploys(deploymentId: string, { from, until }: HealthRange): Promise<Deploy[]> {
    const latest = await db
      .selectFrom('revision_events')
      .innerJoin('revisions', 'revisions.id', 'revision_events.revision_id')
      .select(['revision_events.revision_id', 'revision_events.at'])
      .where('revisions.deployment_id', '=', deploymentId)
      .where('revision_events.status', '=', 'DEPLOYED')
      .where('revision_events.at', '>=', new Date(from))
      .where('revision_events.at', '<', new Date(until))
      .orderBy('revision_events.id', 'desc')
      .limit(maxDeploys)
      .execute();
    return latest.toReversed();
  },

  /** The activity of the last hour of each of these deployments, by one statement. */
  async recentActivity(deploymentIds: readonly string[]): Promise<Map<string, DeploymentSummary['activity']>> {
    const stepMs = activitySeconds * 1_000;
    const last = Math.floor(clock.now() / stepMs);
    const first = last - activitySteps + 1;
    const found =
      deploymentIds.length === 0
        ? { rows: [] }
        : await sql<Record<ActivityCount | 'steps', number[]> & { deployment_id: string }>`
            select deployment_id, array_agg(step) as steps, array_agg(requests) as requests,
              array_agg(errors) as errors, array_agg(runs) as runs, array_agg(failed_runs) as failed_runs
            from (
              select deployment_id, floor(extract(epoch from at) / ${activitySeconds})::int - ${first}::int as step,
                sum(requests)::int as requests, sum(errors)::int as errors, sum(runs)::int as runs,
                sum(failed_runs)::int as failed_runs
              from control.health_figures
              where deployment_id = any(${[...deploymentIds]}::uuid[]) and step_seconds = 60
                and at >= ${new Date(first * stepMs)} and at < ${new Date((last + 1) * stepMs)}
                and (requests > 0 or errors > 0 or runs > 0)
              group by 1, 2
            ) as counted group by 1`.execute(db);
    const byId = new Map(found.rows.map((row) => [row.deployment_id, row]));
    return new Map(
      deploymentIds.map((id) => {
        const row = byId.get(id);
        const toSteps = (count: ActivityCount): number[] => {
          const all = Array.from({ length: activitySteps }, () => 0);
          row?.steps.forEach((step, index) => (all[step] = row[count][index] ?? 0));
          return all;
        };
        return [
          id,
          {
            step_seconds: activitySeconds,
            requests: toSteps('requests'),
            errors: toSteps('errors'),
            runs: toSteps('runs'),
            failed_runs: toSteps('failed_runs'),
          },
        ];
      }),
    );
  },

  /** Merges old minutes into quarters of an hour, some thousands per statement. */
  async mergeOldFigures(): Promise<void> {
    const before = new Date(mergeLimit(clock.now()));
    for (let merged = maxMergedRows; merged === maxMergedRows;) {
      const { rows } = await sql<{ count: number }>`
        with gone as (
          delete from control.health_figures where (deployment_id, step_seconds, at) in (
            select deployment_id, step_seconds, at from control.health_figures
            where step_seconds < ${quarterSeconds} and at < ${before}
            order by step_seconds, deployment_id, at limit ${maxMergedRows} for update
          ) returning *
        ), added as (
          insert into control.health_figures as kept (${columns})
          select deployment_id, ${quarterSeconds}::int, ${periodStart(quarterSeconds)}, ${totals} from gone
          group by 1, 3 order by 1, 3
          ${addToExisting}
        )
        select count(*)::int as count from gone`.execute(db);
      merged = rows[0]?.count ?? 0;
    }
  },

  /** Removes figures of this age. @returns how many rows. */
  async deleteOldFigures(ageMs: number): Promise<number> {
    const { numDeletedRows } = await db
      .deleteFrom('health_figures')
      .where('step_seconds', '=', quarterSeconds)
      .where('at', '<', new Date(clock.now() - ageMs))
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  },
});
export type HealthStore = ReturnType<typeof healthStore>;
