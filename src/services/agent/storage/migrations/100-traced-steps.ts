import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** The input, output and steps of ended runs. Apart from the run itself, so that they can be dropped alone. */
export const tracedSteps: Migration = {
  name: '100-traced-steps',
  up: async (db) => {
    await sql`alter table trace_outbox add column detail json`.execute(db);
  },
};
