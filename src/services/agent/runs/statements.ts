import { batchTables } from '../graphs/checkpoint-batch.ts';

/**
 * The statements that every run executes: prepared, one round trip and one commit each. The lock of the thread's row
 * orders runs, also between processes.
 */

const runColumns = `run_id, thread_id, assistant_id, graph_id, status, metadata, kwargs, multitask_strategy, temporary,
  detached, process_id, start_after, started_at, created_at, updated_at, held_by`;

/** $1 to $12 are the run: ids, metadata, kwargs, strategy, temporary, detached, process, start_after, now. `heldBy`: its mark. */
const runValues = (status: string, heldBy: string) => `
  $1::uuid, $2::uuid, $3::uuid, $4, ${status}, $5::jsonb, $6::json, $7, $8::boolean, $9::boolean, $10::uuid, $11::timestamptz,
  case when ${status} = 'running' then $12::timestamptz end, $12::timestamptz, $12::timestamptz, ${heldBy}::text`;

const graphOfThread = `
  jsonb_strip_nulls(jsonb_build_object('graph_id', metadata -> 'graph_id', 'assistant_id', metadata -> 'assistant_id'))`;

/**
 * $13: whether it may start at once. $14: the graph metadata for the thread. $15: whether it is for a thread stream. No
 * row if the thread is missing, busy or expired (`isOver`, by $12). Stores the previous state of the thread, for a
 * rollback.
 */
export const beginOnThread = (isOver: string) => ({
  name: 'begin-on-thread',
  text: `
    with thread as (
      update threads
      set unfinished = unfinished + 1, status = 'busy', metadata = metadata || $14::jsonb, updated_at = $12,
        status_at_rest = case when unfinished = 0 then status else status_at_rest end, graph_before = ${graphOfThread}
      where thread_id = $2 and ($7 <> 'reject' or unfinished = 0) and not ${isOver}
        and case when $18::text is null then true else coalesce((
          select type from checkpoint_blobs where thread_id = $2::uuid::text and type = any($17::text[]) limit 1
        ) <> $18::text, true) end
      returning case when unfinished = 1 and $13 then 'running' else 'pending' end as status, graph_before
    )
    insert into runs (${runColumns}, graph_before, thread_stream)
    select ${runValues('thread.status', '$16')}, thread.graph_before, $15::boolean from thread
    returning status, sequence`,
});

/** A stateless run whose thread is kept. */
export const beginWithThread = {
  name: 'begin-with-thread',
  text: `
    with thread as (
      insert into threads (thread_id, status, unfinished, metadata, config, interrupts, created_at, updated_at)
      values ($2, 'busy', 1, $14::jsonb, '{}', '{}', $12, $12)
    )
    insert into runs (${runColumns}) select ${runValues('s.status', '$15')} from (select case when $13 then 'running' else 'pending' end as status) s
    returning status, sequence`,
};

/** A stateless run without a kept thread. */
export const beginAlone = {
  name: 'begin-alone',
  text: `
    insert into runs (${runColumns}) select ${runValues('s.status', '$14')} from (select case when $13 then 'running' else 'pending' end as status) s
    returning status, sequence`,
};

/**
 * $1 run, $2 process, $3 now. No row while an earlier run is unfinished, or if this process doesn't have the run.
 * Delayed runs (`start_after`) don't block others. Uses `exists`: the database joins it with all unfinished runs.
 */
export const claimRun = {
  name: 'claim-run',
  text: `
    update runs set status = 'running', started_at = $3, updated_at = $3
    where run_id = $1 and process_id = $2 and status = 'pending' and cancel_action is null
      and (
        select true from runs earlier
        where earlier.thread_id = runs.thread_id and earlier.sequence < runs.sequence and earlier.ended_at is null
          and (earlier.status = 'running' or earlier.status = 'pending' and earlier.start_after is null)
        limit 1
      ) is null
    returning run_id`,
};

/** What started a run: the metadata of a cron's run names the cron, and the console's playground itself. */
const triggerOfRun = `case when metadata ? 'cron_id' then 'cron' else coalesce(left(metadata ->> 'landfall_trigger', 40), 'api') end`;

/**
 * Adds an ended run to the tracing outbox in the statement that ends it, so that each ended run is exported, and no
 * other. The parameters from `at` on are: whether to export it, its error, its tokens, the
 * revision, its input, output and steps, and its status for who reads the list of runs.
 */
const insertTrace = (at: number, endedAt: string) => `
    traced as (
      insert into trace_outbox (run, detail, detail_bytes)
      select json_build_object(
        'id', run_id, 'thread_id', case when temporary then null else thread_id end, 'assistant_id', assistant_id,
        'graph_id', graph_id, 'revision_id', $${at + 3}::text, 'status', $${at + 5}::text, 'error', $${at + 1}::json,
        'tokens', $${at + 2}::json, 'created_at', created_at, 'started_at', started_at, 'ended_at', ${endedAt}, 'trigger', ${triggerOfRun}
      ), $${at + 4}::json, octet_length($${at + 4}::json::text)
      from run where $${at}::boolean
    )`;

/** Queues the webhook of a run in the statement that ends it, with its payload. From `at` on: its URL, null for none, and host. */
const insertWebhook = (at: number, end: { status: string; endedAt: string; error: string; values: string }) => `
    hooked as (
      insert into webhook_deliveries (url, host, next_attempt_at, run_id, thread_id, assistant_id, status, metadata, kwargs,
        multitask_strategy, error, "values", stateless, created_at, started_at, ended_at, updated_at)
      select $${at}::text, $${at + 1}::text, $3::timestamptz, run_id, thread_id, assistant_id, ${end.status}, metadata, kwargs,
        multitask_strategy, ${end.error}, ${end.values}, temporary, created_at, started_at, ${end.endedAt}, $3::timestamptz
      from run where $${at}::text is not null
    )`;

/**
 * $1 run, $2 process, $3 now, $4 status, $5 error, $6 the thread's status, $7 its values, $8 its interrupts, $9 to $14
 * its trace, $15 and $16 its webhook. If the run reached no state, the payload has the thread's.
 */
const endOfRun = `run as (
      update runs set status = $4, error = $5::json, ended_at = $3, updated_at = $3
      where run_id = $1 and process_id = $2 and status in ('pending', 'running')
      returning *
    ), ${insertTrace(9, 'ended_at')}, ${insertWebhook(15, {
      status: 'status',
      endedAt: 'ended_at',
      error: 'error',
      values: 'coalesce($7::json, (select "values" from threads t where t.thread_id = run.thread_id))',
    })}, noted as (
      delete from checkpoint_writes_before using run where checkpoint_writes_before.run_id = run.run_id
    )
    update threads
    set unfinished = unfinished - 1, status = case when unfinished > 1 then 'busy' else $6 end, status_at_rest = $6,
      "values" = coalesce($7::json, "values"), interrupts = $8::json, updated_at = $3,
      state_updated_at = case when $7::json is null then state_updated_at else $3::timestamptz end
    from run where threads.thread_id = run.thread_id`;
export const endOnThread = { name: 'end-on-thread', text: `with ${endOfRun}` };

/** The same with the run's last checkpoints, from $17 on. */
export const endWithCheckpoints = {
  name: 'end-with-checkpoints',
  text: `
    with ours as materialized (
      select from runs where run_id = $1 and process_id = $2 and status = 'running'
    ), ${batchTables(17)}, ${endOfRun}`,
};

/** The cron in the metadata of a run, which any client may set to anything. */
const cronOfRun = `case when run.metadata ->> 'cron_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then (run.metadata ->> 'cron_id')::uuid end`;

/** How many ended stateless runs of a cron are kept. */
const maxCronRuns = 100;

/**
 * Keeps the end of a stateless run of a cron, and prunes the older ones. $9: its status, $5: its error. The lock waits
 * for a deletion of the cron: the foreign key alone would fail the statement.
 */
const insertCronRun = `
    of_cron as (
      insert into cron_runs (cron_id, run_id, status, error, created_at, started_at, ended_at)
      select cron_id, run_id, $9::text, $5::json, run.created_at, started_at, $3::timestamptz
      from run join crons on crons.cron_id = ${cronOfRun}
      for key share of crons
    ), pruned_of_cron as (
      delete from cron_runs using run where cron_runs.cron_id = ${cronOfRun} and cron_runs.run_id in (
        select newest.run_id from cron_runs newest where newest.cron_id = ${cronOfRun}
        order by newest.created_at desc offset ${maxCronRuns - 1}
      )
    )`;

/** $1 run, $2 process, $3 now, $4 to $9 its trace, $10 and $11 its webhook, $12 its status, $13 its error. Deletes a stateless run. */
export const endAlone = {
  name: 'end-alone',
  text: `
    with run as (
      delete from runs where run_id = $1 and process_id = $2 returning *
    ), ${insertTrace(4, '$3::timestamptz')}, ${insertCronRun},
    ${insertWebhook(10, { status: '$12::text', endedAt: '$3::timestamptz', error: '$13::json', values: 'null::json' })}
    select from run`,
};
