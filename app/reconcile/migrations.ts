import { sql } from 'kysely';
import type { Migration } from '../../src/kit/postgres/migrate.ts';

/** The Postgres schema that holds the App's tables. */
export const workSchema = 'app';

/** The list of the work's applied steps. */
export const workMigrationTable = 'work_migrations';

const work = `
  create table app.intents (
    id uuid primary key,
    seq bigint generated always as identity unique,
    deployment_id text not null,
    repository_id bigint not null,
    repository jsonb not null,
    commit text not null,
    cause_kind text not null,
    cause_key text not null,
    state text not null,
    body jsonb not null,
    end_kind text generated always as (body -> 'end' ->> 'kind') stored,
    live_in text generated always as (body -> 'end' ->> 'liveIn') stored,
    ended_at double precision generated always as ((body -> 'end' ->> 'at')::double precision) stored,
    constraint intents_once unique (deployment_id, commit, cause_kind, cause_key)
  );
  create index intents_open on app.intents (deployment_id, seq) where state <> 'ended';
  create index intents_in_order on app.intents (deployment_id, seq desc);
  create index intents_at on app.intents (repository_id, commit, seq);
  create index intents_unredeemed on app.intents (deployment_id, seq)
    where end_kind in ('superseded', 'other-commit') and live_in is null;

  create table app.lanes (
    deployment_id text primary key,
    holder text,
    lease_until double precision not null default 0,
    wakes integer not null default 0,
    heeded integer not null default 0,
    next_at double precision,
    job_at double precision,
    held jsonb,
    rolled_back_commit text
  );
  create index lanes_held on app.lanes (deployment_id) where holder is not null;

  create table app.reports (
    id uuid primary key,
    kind text not null,
    repository_id bigint not null,
    repository jsonb not null,
    head_sha text not null,
    name text not null,
    wanted jsonb not null,
    version integer not null,
    told_version integer not null default 0,
    told_at double precision,
    github_id bigint,
    told jsonb,
    constraint reports_once unique (repository_id, head_sha, name)
  );
  create index reports_untold on app.reports (id) where version > told_version;
`;

/** Tables, columns and values under the names that the code uses. */
const standardNames = `
  alter table app.lanes rename to queues;
  alter table app.queues rename column wakes to notified_seq;
  alter table app.queues rename column heeded to processed_seq;
  alter index app.lanes_held rename to queues_held;
  alter index app.lanes_pkey rename to queues_pkey;
  alter table app.reports rename column told_version to reported_version;
  alter table app.reports rename column told_at to reported_at;
  alter table app.reports rename column told to reported;
  alter index app.reports_untold rename to reports_pending;
  alter index app.intents_unredeemed rename to intents_not_yet_contained;

  update app.intents set state = 'requested' where state = 'wished';
  update app.intents set body = jsonb_set(body, '{decision,code}', '"already-reported"')
    where body #>> '{decision,code}' = 'already-told';
  update app.intents set body = jsonb_set(
      body #- '{smoke,under,told}', '{smoke,under}',
      ((body #> '{smoke,under}') - 'told')
        || jsonb_build_object('kind', 'started', 'reported', coalesce(body #> '{smoke,under,told}', 'false')))
    where body #>> '{smoke,under,kind}' = 'asked';
`;

const baselines = `
  create table app.baselines (
    deployment_id text not null,
    revision_id text not null,
    test_hash text not null,
    answers jsonb not null,
    taken_at double precision not null,
    primary key (deployment_id, revision_id, test_hash)
  );
  create index baselines_newest on app.baselines (deployment_id, taken_at desc);
`;

/** What a queue is held after is a commit, and no clause. */
const heldCommits = `
  update app.queues set held = jsonb_strip_nulls(
      held - 'why' || jsonb_build_object('commit', substring(held ->> 'why' from '^commit ([0-9a-f]+) ')))
    where held ? 'why';
`;

const commands = `
  create table app.commands (
    repository_id bigint not null,
    comment_id bigint not null,
    number integer not null,
    taken_at double precision not null,
    given jsonb not null,
    action jsonb,
    outcome jsonb,
    primary key (repository_id, comment_id)
  );
  create index commands_newest on app.commands (repository_id, number, comment_id desc);
`;

/** The intent whose revision is to be promoted. */
const promotes = `alter table app.queues add column promotes uuid;`;

/** The steps of the work's tables. The schema itself is made with the list of steps. */
export const workMigrations: readonly Migration[] = [
  { name: '001-work', up: async (db) => void (await sql.raw(work).execute(db)) },
  { name: '002-standard-names', up: async (db) => void (await sql.raw(standardNames).execute(db)) },
  { name: '003-baselines', up: async (db) => void (await sql.raw(baselines).execute(db)) },
  { name: '004-held-commits', up: async (db) => void (await sql.raw(heldCommits).execute(db)) },
  { name: '005-commands', up: async (db) => void (await sql.raw(commands).execute(db)) },
  { name: '006-promotes', up: async (db) => void (await sql.raw(promotes).execute(db)) },
];
