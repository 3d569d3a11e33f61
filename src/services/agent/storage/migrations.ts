import { sqlStep, type Migration } from '../../../kit/postgres/migrate.ts';
import { firstTables } from './first-tables.ts';

/** The migrations. The previous revision may still be running, so one only adds: it drops and narrows no column. */
export const migrations: readonly Migration[] = [
  firstTables,
  /** The outbox of ended runs for the tracing project. */
  sqlStep(
    '002-trace-outbox',
    `create table trace_outbox (
        sequence bigint generated always as identity primary key,
        run json not null
      )`,
  ),
  /** Webhooks of ended runs, until delivered or given up. */
  sqlStep(
    '010-webhooks',
    `create table webhook_deliveries (
        delivery_id bigint generated always as identity primary key,
        url text not null,
        host text not null,
        attempts integer not null default 0,
        next_attempt_at timestamptz not null,
        run_id uuid not null,
        thread_id uuid not null,
        assistant_id uuid not null,
        status text not null,
        metadata json not null,
        kwargs json not null,
        multitask_strategy text not null,
        error json,
        "values" json,
        stateless boolean not null,
        created_at timestamptz not null,
        started_at timestamptz,
        ended_at timestamptz,
        updated_at timestamptz not null
      )`,
    `create index webhook_deliveries_due on webhook_deliveries (next_attempt_at)`,
  ),
  /** Crons, which are deleted with their assistant and their thread. */
  sqlStep(
    '020-crons',
    `create table crons (
        cron_id uuid primary key,
        assistant_id uuid not null references assistants on delete cascade,
        thread_id uuid references threads on delete cascade,
        schedule text not null,
        timezone text,
        end_time timestamptz,
        enabled boolean not null,
        next_run_date timestamptz,
        on_run_completed text,
        payload json not null,
        metadata jsonb not null,
        user_id text,
        created_at timestamptz not null,
        updated_at timestamptz not null
      )`,
    `create index crons_due on crons (next_run_date) where next_run_date is not null`,
    `create index crons_of_thread on crons (thread_id) where thread_id is not null`,
    `create index crons_of_assistant on crons (assistant_id)`,
  ),
  /** The items of the store. Labels and keys sort by their bytes: all namespaces below one are a range of the index. */
  sqlStep(
    '030-store',
    `create table store_items (
        namespace text[] collate "C" not null,
        key text collate "C" not null,
        value jsonb not null,
        exact json,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        ttl_minutes double precision,
        expires_at timestamptz,
        primary key (namespace, key)
      )`,
    `create index store_items_expiring on store_items (expires_at) where expires_at is not null`,
  ),
  /** The expiry of threads, and when their states last changed. */
  sqlStep(
    '040-threads',
    `alter table threads
        add column state_updated_at timestamptz,
        add column ttl_strategy text,
        add column ttl_minutes double precision,
        add column expires_at timestamptz,
        add column pruned_at timestamptz`,
    `create index threads_expiring on threads (expires_at) where expires_at is not null`,
    `create table thread_lifetime (
        only_one boolean primary key default true check (only_one),
        since timestamptz not null
      )`,
  ),
  /** The live processes of the deployment, and the events of runs for other processes. */
  sqlStep(
    '050-processes',
    `create table processes (
        process_id uuid primary key,
        lease_until timestamptz not null
      )`,
    `create table run_events (
        run_id uuid not null,
        id bigint not null,
        event text not null,
        data text not null,
        at_end boolean not null,
        written_at timestamptz not null,
        primary key (run_id, id)
      )`,
    `create index run_events_by_age on run_events (written_at)`,
    `alter table runs add column watched boolean not null default false`,
  ),
  /**
   * What an unfinished run overwrote in earlier states, so that it can be undone and started again; a null channel where
   * there was nothing. And the status of a thread without unfinished runs, and its graph before a run.
   */
  sqlStep(
    '060-writes-before',
    `create table checkpoint_writes_before (
        run_id uuid not null references runs on delete cascade,
        thread_id text not null,
        checkpoint_ns text not null,
        checkpoint_id text not null,
        task_id text not null,
        idx integer not null,
        channel text,
        type text,
        blob bytea,
        primary key (run_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
      )`,
    `alter table threads add column status_at_rest text, add column graph_before jsonb`,
    `alter table runs add column graph_before jsonb`,
  ),
  /**
   * Indexes for queries over many rows. Every waiting run queries the unfinished runs of its thread: with an index on the
   * order of acceptance alone, each of ten thousand would read all others. The index has a condition that statements
   * about a single run lack: otherwise the planner might prefer it to the primary key while few runs are unfinished.
   * Threads are searched by metadata and listed by age; a run changes neither, so runs do not write to those indexes.
   */
  sqlStep(
    '070-searches',
    `create index runs_unfinished_of_thread on runs (thread_id, sequence) where ended_at is null`,
    `drop index runs_unfinished`,
    `create index threads_by_age on threads (created_at desc, thread_id)`,
    `create index threads_by_metadata on threads using gin (metadata jsonb_path_ops)`,
  ),
  /** Which runs emit events of the thread-stream protocol: reading it from the arguments would parse all of their input. */
  sqlStep(
    '080-thread-streams',
    `alter table runs add column thread_stream boolean not null default false`,
    `create index runs_of_thread_streams on runs (thread_id, sequence) where thread_stream`,
  ),
  /** The embeddings of items for searches by meaning. They do not compress, so Postgres need not try. */
  sqlStep(
    '090-store-vectors',
    `create table store_vectors (
        namespace text[] collate "C" not null,
        key text collate "C" not null,
        position integer not null,
        written_at timestamptz not null,
        dims integer not null,
        embedding real[] not null,
        primary key (namespace, key, position),
        foreign key (namespace, key) references store_items on delete cascade
      )`,
    `alter table store_vectors alter column embedding set storage external`,
  ),
  /** The input, output and steps of ended runs. Apart from the run itself, so that they can be dropped alone. */
  sqlStep('100-traced-steps', 'alter table trace_outbox add column detail json'),
  /**
   * The last attempt of each webhook, and those that were delivered or given up. These are in a table of their own: a
   * process of a previous revision would send everything that is in the queue.
   */
  sqlStep(
    '101-webhook-history',
    `alter table webhook_deliveries
      add column attempted_at timestamptz, add column last_status integer, add column last_reason text`,
    `create table webhook_history (
        like webhook_deliveries, state text not null, settled_at timestamptz not null, primary key (delivery_id)
      )`,
    `create index webhook_history_by_age on webhook_history (settled_at desc)`,
    `create index webhook_history_of_run on webhook_history (run_id)`,
  ),
  /** The runs of crons without a kept thread, which are deleted at their end. */
  sqlStep(
    '102-cron-runs',
    `create table cron_runs (
        cron_id uuid not null references crons on delete cascade,
        run_id uuid not null,
        status text not null,
        error json,
        created_at timestamptz not null,
        started_at timestamptz,
        ended_at timestamptz not null,
        primary key (cron_id, run_id)
      )`,
  ),
  /** The size of a run's details, so that the exporter need not read them, and whether a webhook's payload was dropped. */
  sqlStep(
    '103-bounded-histories',
    `alter table trace_outbox add column detail_bytes integer`,
    `alter table webhook_history add column is_cut boolean not null default false`,
  ),
  /** Revisions that are held, without traffic, and the runs that were created at one. */
  sqlStep(
    '104-holds',
    `create table holds (revision_id text primary key, until timestamptz not null)`,
    `alter table runs add column held_by text`,
  ),
];
