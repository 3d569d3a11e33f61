import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** The expiry of threads, and when their states last changed. */
export const threads: Migration = {
  name: '040-threads',
  up: async (db) => {
    await sql`
      alter table threads
        add column state_updated_at timestamptz,
        add column ttl_strategy text,
        add column ttl_minutes double precision,
        add column expires_at timestamptz,
        add column pruned_at timestamptz`.execute(db);
    await sql`create index threads_expiring on threads (expires_at) where expires_at is not null`.execute(db);
    await sql`
      create table thread_lifetime (
        only_one boolean primary key default true check (only_one),
        since timestamptz not null
      )`.execute(db);
  },
};
