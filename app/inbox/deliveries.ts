import { type ColumnType, type Generated, type Kysely, type Selectable, sql } from 'kysely';
import type { Clock } from '../../src/kit/clock.ts';
import { storableJson } from '../../src/kit/json-text.ts';
import type { Migration } from '../../src/kit/postgres/migrate.ts';
import type { Delivery } from './delivery.ts';

/** A delivery in the inbox, without its payload. Times are ms since the epoch. */
export interface StoredDelivery extends Omit<Delivery, 'payload'> {
  handledAt: number | undefined;
  decision: unknown;
  attempts: number;
  lastError: string | undefined;
}

/** What was decided about a delivery: JSON, for people to read. */
export interface DeliveryDecision {
  kind: string;
  why: string;
}

/** Retention of handled deliveries (ms), by which repeated ones are recognised. */
const handledRetentionMs = 14 * 24 * 60 * 60_000;

/** Retention of unhandled deliveries (ms). */
const unhandledRetentionMs = 90 * 24 * 60 * 60_000;

/** Rows deleted per statement when pruning. */
const maxRemovedPerStatement = 500;

/** Opens the stored deliveries. */
export function openDeliveries(tables: Kysely<InboxTables>, clock: Clock) {
  const db = tables.withSchema(appSchema);
  const summaryColumns = [
    'id',
    'event',
    'action',
    'installation_id',
    'repository_id',
    'received_at',
    'handled_at',
    'decision',
    'attempts',
    'last_error',
  ] as const;
  return {
    async get(id: string): Promise<(StoredDelivery & { payload: string }) | undefined> {
      const row = await db.selectFrom('deliveries').selectAll().where('id', '=', id).executeTakeFirst();
      return row && { ...toStoredDelivery(row), payload: row.payload };
    },
    /** The newest first; `unhandled` omits handled ones. */
    async list({ limit, unhandled = false }: { limit: number; unhandled?: boolean }): Promise<StoredDelivery[]> {
      let query = db.selectFrom('deliveries').select(summaryColumns).orderBy('received_at', 'desc').limit(limit);
      if (unhandled) query = query.where('handled_at', 'is', null);
      return (await query.execute()).map(toStoredDelivery);
    },
    /** Returns those of these GUIDs that were never received. */
    async neverReceived(ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return [];
      const rows = await db
        .selectFrom('deliveries')
        .select('id')
        .where('id', 'in', [...ids])
        .execute();
      const received = new Set(rows.map(({ id }) => id));
      return ids.filter((id) => !received.has(id.toLowerCase()));
    },
    async markHandled(id: string, decision: DeliveryDecision): Promise<void> {
      await db
        .updateTable('deliveries')
        .set({
          handled_at: new Date(clock.now()),
          decision: storableJson(decision),
          last_error: null,
        })
        .set((row) => ({ attempts: row('attempts', '+', 1) }))
        .where('id', '=', id)
        .execute();
    },
    /** Records a failed attempt; `why` must not contain a secret. */
    async markFailed(id: string, why: string): Promise<void> {
      await db
        .updateTable('deliveries')
        .set({ last_error: why.replaceAll('\0', '').slice(0, 2_000) })
        .set((row) => ({ attempts: row('attempts', '+', 1) }))
        .where('id', '=', id)
        .execute();
    },
    /** Deletes handled deliveries after 14 days, and unhandled ones after 90 days. @returns how many it deleted. */
    async prune(): Promise<number> {
      const handledBefore = new Date(clock.now() - handledRetentionMs);
      const unhandledBefore = new Date(clock.now() - unhandledRetentionMs);
      let removed = 0;
      for (;;) {
        const { rows } = await sql`
          delete from app.deliveries where id in (
            select id from app.deliveries
            where received_at < ${handledBefore} and (handled_at is not null or received_at < ${unhandledBefore})
            limit ${maxRemovedPerStatement})
          returning id`.execute(tables);
        removed += rows.length;
        if (rows.length < maxRemovedPerStatement) break;
      }
      await sql`delete from app.readings where began_at < ${handledBefore}`.execute(tables);
      return removed;
    },
  };
}
export type Deliveries = ReturnType<typeof openDeliveries>;

const toStoredDelivery = (row: Omit<Selectable<DeliveriesTable>, 'payload'>): StoredDelivery => ({
  id: row.id,
  event: row.event,
  action: row.action ?? undefined,
  installationId: row.installation_id === null ? undefined : Number(row.installation_id),
  repositoryId: row.repository_id === null ? undefined : Number(row.repository_id),
  receivedAt: row.received_at.getTime(),
  handledAt: row.handled_at?.getTime(),
  decision: row.decision,
  attempts: row.attempts,
  lastError: row.last_error ?? undefined,
});

/** The Postgres schema that holds the App's tables. */
export const appSchema = 'app';

/** The table of the inbox's applied migrations. */
export const inboxMigrationTable = 'inbox_migrations';

const deliveriesTable = `
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

/** One row for each content that a process is reading, or has not finished reading. */
const readingsTable = `
  create table app.readings (
    content text not null,
    holder uuid not null,
    began_at timestamptz not null,
    refused_until timestamptz,
    primary key (content, holder)
  );
  create index readings_by_age on app.readings (began_at);
`;

/** The migrations of the inbox's tables. */
export const inboxMigrations: readonly Migration[] = [
  { name: '001-deliveries', up: async (db) => void (await sql.raw(deliveriesTable).execute(db)) },
  { name: '002-readings', up: async (db) => void (await sql.raw(readingsTable).execute(db)) },
];

type Immutable<T> = ColumnType<T, T, never>;

/** Received webhooks and their results. A row also identifies repeated deliveries. */
interface DeliveriesTable {
  /** GitHub's GUID. */
  id: Immutable<string>;
  event: Immutable<string>;
  action: Immutable<string | null>;
  /** `bigint`: returned as text. */
  installation_id: ColumnType<string | null, number | null, never>;
  repository_id: ColumnType<string | null, number | null, never>;
  /** The signed text. */
  payload: Immutable<string>;
  received_at: Immutable<Date>;
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
