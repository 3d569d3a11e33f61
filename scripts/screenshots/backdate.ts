import { Client } from 'pg';

/** Moves each revision 67 minutes before the next one, so that the pages show a day's work. */
const backdateRevisions = `
  with moved as (
    select id, (row_number() over (partition by deployment_id order by sequence desc) - 1) * interval '67 minutes' as age
    from control.revisions
  ), events as (
    update control.revision_events kept set at = kept.at - age from moved where moved.id = kept.revision_id
  ), lines as (
    update control.log_lines kept set at = kept.at - age from moved where moved.id = kept.revision_id
  ), deployments as (
    update control.deployments kept set created_at = kept.created_at - interval '1 day'
  ), found as (
    update control.verdicts kept set created_at = kept.created_at - age from moved where moved.id = kept.revision_id
  )
  update control.revisions kept set created_at = kept.created_at - age, updated_at = kept.updated_at - age
  from moved where moved.id = kept.id`;

/**
 * Health figures by the minute of six hours, the same at every run: two waves. The positions of a histogram are powers
 * of 1.2 ms.
 */
const addFigures = `
  insert into control.health_figures (deployment_id, step_seconds, at, requests, errors, runs, failed_runs, run_times,
    first_events, memory_bytes, cpu_ms, sampled_ms, queue_length)
  select id, 60, date_trunc('minute', now()) - minute * interval '1 minute', 14 + wave, case when minute % 47 = 3 then 2 else 0 end,
    9 + wave, case when minute % 31 = 5 then 1 else 0 end,
    array_fill(0, array[26 + wave / 3]) || array[5 + wave, 3] || array_fill(0, array[4]) || array[1],
    array_fill(0, array[18 + wave / 4]) || array[6 + wave, 2, 1],
    (104 + wave + minute % 5) * 1000000, 2400 + wave * 500, 60000, greatest(0, wave - 5)
  from (select *, round(5 + 4 * sin(minute / 23.0) + 2 * sin(minute / 5.0))::int as wave from (
    select id, minute from control.deployments, generate_series(0, 360) as minute where name = any ($1)
  ) as minutes) as waves
  on conflict (deployment_id, step_seconds, at) do update set requests = excluded.requests, errors = excluded.errors,
    runs = excluded.runs, failed_runs = excluded.failed_runs, run_times = excluded.run_times,
    first_events = excluded.first_events, memory_bytes = excluded.memory_bytes, cpu_ms = excluded.cpu_ms,
    sampled_ms = excluded.sampled_ms, queue_length = excluded.queue_length`;

/** Backdates the revisions of all deployments, and adds health figures for the named ones. */
export async function backdate(databaseUrl: string, measured: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(backdateRevisions);
    await client.query(addFigures, [measured]);
  } finally {
    await client.end();
  }
}
