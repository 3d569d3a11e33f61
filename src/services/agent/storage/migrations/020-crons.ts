import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** Crons, which are deleted with their assistant and their thread. */
export const crons: Migration = {
  name: '020-crons',
  up: async (db) => {
    await sql`
      create table crons (
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
      )`.execute(db);
    await sql`create index crons_due on crons (next_run_date) where next_run_date is not null`.execute(db);
    await sql`create index crons_of_thread on crons (thread_id) where thread_id is not null`.execute(db);
    await sql`create index crons_of_assistant on crons (assistant_id)`.execute(db);
  },
};
