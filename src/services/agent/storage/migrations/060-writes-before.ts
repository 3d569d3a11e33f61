import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/**
 * What an unfinished run overwrote in earlier states, so that it can be undone and started again; a null channel where
 * there was nothing. And the status of a thread without unfinished runs, and its graph before a run.
 */
export const writesBefore: Migration = {
  name: '060-writes-before',
  up: async (db) => {
    await sql`
      create table checkpoint_writes_before (
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
      )`.execute(db);
    await sql`alter table threads add column status_at_rest text, add column graph_before jsonb`.execute(db);
    await sql`alter table runs add column graph_before jsonb`.execute(db);
  },
};
