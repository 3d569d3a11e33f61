import type { ColumnType, Generated } from 'kysely';

type Fixed<T> = ColumnType<T, T, never>;

/** Received webhooks and their results. A row also identifies repeated deliveries. */
export interface DeliveriesTable {
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
