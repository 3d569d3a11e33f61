import { sql } from 'kysely';
import type { Migration } from '../../../../kit/postgres/migrate.ts';

/** The embeddings of items for searches by meaning. They do not compress, so Postgres need not try. */
export const storeVectors: Migration = {
  name: '090-store-vectors',
  up: async (db) => {
    await sql`
      create table store_vectors (
        namespace text[] collate "C" not null,
        key text collate "C" not null,
        position integer not null,
        written_at timestamptz not null,
        dims integer not null,
        embedding real[] not null,
        primary key (namespace, key, position),
        foreign key (namespace, key) references store_items on delete cascade
      )`.execute(db);
    await sql`alter table store_vectors alter column embedding set storage external`.execute(db);
  },
};
