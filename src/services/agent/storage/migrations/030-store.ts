import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/**
 * The items of the store. Labels and keys sort by their bytes, so that all namespaces below one are a range of the
 * key's index.
 */
export const store: Migration = {
  name: '030-store',
  up: async (db) => {
    await sql`
      create table store_items (
        namespace text[] collate "C" not null,
        key text collate "C" not null,
        value jsonb not null,
        exact json,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        ttl_minutes double precision,
        expires_at timestamptz,
        primary key (namespace, key)
      )`.execute(db);
    await sql`create index store_items_expiring on store_items (expires_at) where expires_at is not null`.execute(db);
  },
};
