import { sql } from 'kysely';
import type { Migration } from '../../../postgres/migrate.ts';

/**
 * What is asked of many rows. Which runs of a thread have not ended is asked for every run that waits for its turn: by the
 * order of acceptance alone each of ten thousand that wait would read all the others. The condition is one that statements
 * about a single run do not have: where few had not ended when the rows were last counted, they would rather read this
 * index to its end than look a run up by its id. Threads are searched by metadata and listed by age; neither changes with
 * a run, so that runs do not write to those indexes.
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
