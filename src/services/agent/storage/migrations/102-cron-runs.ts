import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** The runs of crons without a kept thread, which are deleted at their end. */
export const cronRuns: Migration = {
  name: '102-cron-runs',
  up: async (db) => {
    await sql`
      create table cron_runs (
        cron_id uuid not null references crons on delete cascade,
        run_id uuid not null,
        status text not null,
        error json,
        created_at timestamptz not null,
        started_at timestamptz,
        ended_at timestamptz not null,
        primary key (cron_id, run_id)
      )`.execute(db);
  },
};
