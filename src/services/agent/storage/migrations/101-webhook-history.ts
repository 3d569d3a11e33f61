import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/**
 * The last attempt of each webhook, and those that were delivered or given up. These are in a table of their own: a
 * process of a former revision would send everything that is in the queue.
 */
export const webhookHistory: Migration = {
  name: '101-webhook-history',
  up: async (db) => {
    await sql`alter table webhook_deliveries
      add column attempted_at timestamptz, add column last_status integer, add column last_reason text`.execute(db);
    await sql`create table webhook_history (
        like webhook_deliveries, state text not null, settled_at timestamptz not null, primary key (delivery_id)
      )`.execute(db);
    await sql`create index webhook_history_by_age on webhook_history (settled_at desc)`.execute(db);
    await sql`create index webhook_history_of_run on webhook_history (run_id)`.execute(db);
  },
};
