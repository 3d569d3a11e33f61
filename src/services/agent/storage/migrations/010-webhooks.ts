import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** Webhooks of ended runs, until delivered or given up. */
export const webhooks: Migration = {
  name: '010-webhooks',
  up: async (db) => {
    await sql`
      create table webhook_deliveries (
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
      )`.execute(db);
    await sql`create index webhook_deliveries_due on webhook_deliveries (next_attempt_at)`.execute(db);
  },
};
