import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** A step that is plain SQL. */
export const sqlStep = (name: string, statements: string): Migration => ({
  name,
  up: async (db) => {
    await sql.raw(statements).execute(db);
  },
});
