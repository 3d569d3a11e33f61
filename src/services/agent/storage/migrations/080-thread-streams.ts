import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** Which runs emit events of the thread-stream protocol: reading it from the arguments would parse all of their input. */
export const threadStreams: Migration = {
  name: '080-thread-streams',
  up: async (db) => {
    await sql`alter table runs add column thread_stream boolean not null default false`.execute(db);
    await sql`create index runs_of_thread_streams on runs (thread_id, sequence) where thread_stream`.execute(db);
  },
};
