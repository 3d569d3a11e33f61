import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** The size of a run's details, so that the exporter need not read them, and whether a webhook's payload was dropped. */
export const boundedHistories: Migration = {
  name: '103-bounded-histories',
  up: async (db) => {
    await sql`alter table trace_outbox add column detail_bytes integer`.execute(db);
    await sql`alter table webhook_history add column is_cut boolean not null default false`.execute(db);
  },
};
