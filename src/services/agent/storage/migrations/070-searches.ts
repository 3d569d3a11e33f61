import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/**
 * Indexes for queries over many rows. Every waiting run queries the unfinished runs of its thread: with an index on the
 * order of acceptance alone, each of ten thousand would read all others. The index has a condition that statements
 * about a single run lack: otherwise the planner might prefer it to the primary key while few runs are unfinished.
 * Threads are searched by metadata and listed by age; a run changes neither, so runs do not write to those indexes.
 */
export const searches: Migration = {
  name: '070-searches',
  up: async (db) => {
    await sql`create index runs_unfinished_of_thread on runs (thread_id, sequence) where ended_at is null`.execute(db);
    await sql`drop index runs_unfinished`.execute(db);
    await sql`create index threads_by_age on threads (created_at desc, thread_id)`.execute(db);
    await sql`create index threads_by_metadata on threads using gin (metadata jsonb_path_ops)`.execute(db);
  },
};
