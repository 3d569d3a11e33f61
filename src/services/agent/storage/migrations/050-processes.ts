import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** The live processes of the deployment, and the events of runs for other processes. */
export const processes: Migration = {
  name: '050-processes',
  up: async (db) => {
    await sql`
      create table processes (
        process_id uuid primary key,
        lease_until timestamptz not null
      )`.execute(db);
    await sql`
      create table run_events (
        run_id uuid not null,
        id bigint not null,
        event text not null,
        data text not null,
        at_end boolean not null,
        written_at timestamptz not null,
        primary key (run_id, id)
      )`.execute(db);
    await sql`create index run_events_by_age on run_events (written_at)`.execute(db);
    await sql`alter table runs add column watched boolean not null default false`.execute(db);
  },
};
