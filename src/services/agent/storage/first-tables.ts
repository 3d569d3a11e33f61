import { sqlStep } from '../../../kit/postgres/migrate.ts';

/** What an assistant and each of its versions have alike. */
const descriptionColumns = `
    name text not null,
    description text,
    context json not null,
    config json not null,
    metadata jsonb not null`;

/** Assistants with their versions, threads and runs. */
export const firstTables = sqlStep(
  '001-first',
  `create table assistants (
    assistant_id uuid primary key,
    graph_id text not null,
    version integer not null,
    ${descriptionColumns},
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create table assistant_versions (
    assistant_id uuid not null references assistants on delete cascade,
    version integer not null,
    graph_id text not null,
    ${descriptionColumns},
    created_at timestamptz not null,
    primary key (assistant_id, version)
  )`,
  `create table threads (
    thread_id uuid primary key,
    status text not null,
    unfinished integer not null default 0,
    metadata jsonb not null,
    config json not null,
    "values" json,
    interrupts json not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create table runs (
    run_id uuid primary key,
    sequence bigint generated always as identity,
    thread_id uuid not null,
    assistant_id uuid not null,
    graph_id text not null,
    status text not null,
    metadata jsonb not null,
    kwargs json not null,
    multitask_strategy text not null,
    temporary boolean not null,
    detached boolean not null,
    attempt integer not null default 1,
    process_id uuid,
    cancel_action text,
    error json,
    start_after timestamptz,
    started_at timestamptz,
    ended_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create index runs_of_thread on runs (thread_id, sequence)`,
  `create index runs_unfinished on runs (sequence) where status in ('pending', 'running')`,
);
