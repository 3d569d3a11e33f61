import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** Revisions that are held, without traffic, and the runs that were created at one. */
export const holds: Migration = {
  name: '104-holds',
  up: async (db) => {
    await sql`create table holds (revision_id text primary key, until timestamptz not null)`.execute(db);
    await sql`alter table runs add column held_by text`.execute(db);
  },
};
