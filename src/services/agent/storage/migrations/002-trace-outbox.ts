import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** The outbox of ended runs for the tracing project. */
export const traceOutbox: Migration = {
  name: '002-trace-outbox',
  up: async (db) => {
    await sql`
      create table trace_outbox (
        sequence bigint generated always as identity primary key,
        run json not null
      )`.execute(db);
  },
};
