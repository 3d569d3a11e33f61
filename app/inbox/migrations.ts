import { type ColumnType, type Generated, sql } from 'kysely';
import type { Migration } from '../../src/postgres/migrate.ts';

/** The Postgres schema that holds the App's tables. */
export const appSchema = 'app';

/** The list of the inbox's applied steps. */
export const inboxMigrationTable = 'inbox_migrations';

const deliveries = `
  create table app.deliveries (
    id uuid primary key,
    event text not null,
    action text,
    installation_id bigint,
    repository_id bigint,
    payload text not null,
    received_at timestamptz not null,
    handled_at timestamptz,
    decision jsonb,
    attempts integer not null default 0,
    last_error text
  );
  create index deliveries_by_age on app.deliveries (received_at);
  create index deliveries_unhandled on app.deliveries (received_at) where handled_at is null;
`;

/** The steps of the inbox's tables. */
export const inboxMigrations: readonly Migration[] = [
  { name: '001-deliveries', up: async (db) => void (await sql.raw(deliveries).execute(db)) },
];

type Fixed<T> = ColumnType<T, T, never>;

/** Received webhooks and their results. A row also identifies repeated deliveries. */
interface DeliveriesTable {
  /** GitHub's GUID. */
  id: Fixed<string>;
  event: Fixed<string>;
  action: Fixed<string | null>;
  /** `bigint`: returned as text. */
  installation_id: ColumnType<string | null, number | null, never>;
  repository_id: ColumnType<string | null, number | null, never>;
  /** The signed text. */
  payload: Fixed<string>;
  received_at: Fixed<Date>;
  handled_at: Date | null;
  /** JSON: written as text, read as a value. */
  decision: ColumnType<unknown, string | null, string | null>;
  attempts: Generated<number>;
  last_error: string | null;
}

/** The inbox's tables, in the Postgres schema `app`. */
export interface InboxTables {
  deliveries: DeliveriesTable;
}
