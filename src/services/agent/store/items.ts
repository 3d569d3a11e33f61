import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import { storePage, maxItemTtlMinutes } from '../../../contract/agent/store-item.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { MetadataFilter } from '../auth/filters.ts';
import type { Storage } from '../storage/open.ts';
import type { Tables } from '../storage/tables.ts';
import type { Condition } from './filter.ts';
import { accessSql, conditionSql } from './item-conditions.ts';
import { rangeBelow } from './namespace.ts';
import type { Vector } from './semantic-index.ts';
import { inArrays, maxCompared, nearestSql, type VectorComparison } from './vectors.ts';
import { replaceVectors, writeItem } from './write-item.ts';
import type { StoreConfig } from '../../../agent-folder/graph-config/retention.ts';

/** An item of the store, in the engine's form. */
export interface Item {
  namespace: string[];
  key: string;
  value: FreeObject;
  createdAt: Date;
  updatedAt: Date;
  /** The cosine similarity, of an item found by meaning. */
  score?: number;
}

export interface ItemSearch {
  /** The namespace to search with all below it; empty for every item. */
  prefix: readonly string[];
  conditions?: readonly Condition[];
  /** What the caller may see. */
  access?: MetadataFilter | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
  /** Whether reading restarts the time to live; the configuration's setting by default. */
  refresh?: boolean | undefined;
}

/** The options of a namespace list. `*` stands for any one label. */
export interface NamespaceSearch {
  prefix?: readonly string[] | undefined;
  suffix?: readonly string[] | undefined;
  /** Deeper namespaces are truncated to this depth, without duplicates. */
  maxDepth?: number | undefined;
  /** Which items the caller may see: only their namespaces are listed. */
  access?: MetadataFilter | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
}

type Row = Omit<Selectable<Tables['store_items']>, 'ttl_minutes' | 'expires_at'>;
type NearRow = Row & { score: number; compared: number };

const itemColumns = sql`namespace, key, value, exact, created_at, updated_at`;
const maxSweptAtOnce = 1000;

const isWithin = ({ from, to }: { from: string[]; to: string[] }): RawBuilder<unknown> =>
  sql`namespace >= ${from}::text[] and namespace < ${to}::text[]`;

/**
 * The items of a deployment, for the routes and the graphs. Each call ignores expired items, and is one statement, or a
 * transaction without the agent's code. Callers have validated namespaces, keys and filters.
 */
export function itemStore(
  storage: Pick<Storage, 'db'>,
  clock: Clock,
  settings: StoreSettings,
  comparison: VectorComparison = inArrays,
) {
  /** Creates an item, or replaces its value. `ttl` in minutes; null for no expiry. `vectors` are found by meaning. */
  async function put(
    namespace: readonly string[],
    key: string,
    value: FreeObject,
    ttl?: number | null,
    vectors?: readonly Vector[],
  ): Promise<void> {
    const { db } = storage;
    const ttlMinutes = ttl === undefined ? (settings.defaultTtl ?? null) : ttl;
    const item = { namespace, key, value, ttlMinutes, writtenAt: new Date(clock.now()) };
    if (vectors === undefined) return writeItem(db, item);
    await db.transaction().execute(async (inTransaction) => {
      await writeItem(inTransaction, item);
      await replaceVectors(inTransaction, item, vectors);
    });
  }

  async function get(namespace: readonly string[], key: string, refresh?: boolean): Promise<Item | undefined> {
    const found = sql`
      select ${itemColumns} from store_items
      where namespace = ${[...namespace]}::text[] and key = ${key} and ${isAlive()}`;
    const [row] = await read<Row>(found, sql`key`, refresh);
    return row && toItem(row);
  }

  /** Deletes an item; a missing one is no error. */
  async function remove(namespace: readonly string[], key: string): Promise<void> {
    await sql`delete from store_items where namespace = ${[...namespace]}::text[] and key = ${key}`.execute(storage.db);
  }

  /** One page of the matches, last written first. */
  async function search(search: ItemSearch): Promise<Item[]> {
    const order = sql`updated_at desc, namespace, key`;
    const found = sql`
      select ${itemColumns} from store_items where ${matches(search)} order by ${order} ${pageSql(search)}`;
    return (await read<Row>(found, order, search.refresh)).map(toItem);
  }

  /** One page of the most similar to a vector. @returns also whether as many vectors were compared as may be. */
  async function searchByMeaning(search: ItemSearch, vector: Vector): Promise<{ items: Item[]; isPartial: boolean }> {
    const order = sql`score desc, updated_at desc, namespace, key`;
    const nearest = nearestSql({ vector, comparison, where: matches(search), columns: itemColumns, order });
    const rows = await read<NearRow>(sql`${nearest} ${pageSql(search)}`, order, search.refresh);
    return {
      items: rows.map((row) => ({ ...toItem(row), score: Math.min(1, row.score) })),
      isPartial: rows.some(({ compared }) => compared >= maxCompared(comparison, vector.length)),
    };
  }

  function matches({ prefix, conditions = [], access = {} }: ItemSearch): RawBuilder<unknown> {
    const range = rangeBelow(prefix);
    const where = [
      isAlive(),
      ...(range ? [isWithin(range)] : []),
      ...conditions.map(conditionSql),
      ...accessSql(access),
    ];
    return sql.join(where, sql` and `);
  }

  /** One page of the namespaces that contain items, sorted. */
  async function namespaces({
    prefix = [],
    suffix = [],
    maxDepth,
    access = {},
    limit,
    offset,
  }: NamespaceSearch): Promise<string[][]> {
    const depth = sql`cardinality(namespace)`;
    const range = rangeBelow(prefix.slice(0, [...prefix, '*'].indexOf('*')));
    const where = [
      isAlive(),
      ...(range ? [isWithin(range)] : []),
      ...accessSql(access),
      sql`${depth} >= ${Math.max(prefix.length, suffix.length)}`,
      ...prefix.flatMap((label, at) => (label === '*' ? [] : [sql`namespace[${at + 1}::int] = ${label}`])),
      ...suffix.flatMap((label, at) =>
        label === '*' ? [] : [sql`namespace[${depth} - ${suffix.length - 1 - at}::int] = ${label}`],
      ),
    ];
    const shown = maxDepth === undefined ? sql`namespace` : sql`namespace[1:${Math.min(maxDepth, 1_000)}::int]`;
    const { rows } = await sql<{ shown: string[] }>`
      select distinct ${shown} as shown from store_items where ${sql.join(where, sql` and `)}
      order by 1 limit ${limit ?? storePage.namespacesLimit} offset ${offset ?? 0}`.execute(storage.db);
    return rows.map((row) => row.shown);
  }

  /** Removes a batch of expired items, except rows locked by other processes. @returns whether there may be more. */
  async function sweep(): Promise<boolean> {
    const { numAffectedRows = 0n } = await sql`
      delete from store_items where (namespace, key) in (
        select namespace, key from store_items where expires_at <= ${now()}
        limit ${maxSweptAtOnce} for update skip locked
      )`.execute(storage.db);
    return numAffectedRows >= BigInt(maxSweptAtOnce);
  }

  /** Reads what `found` finds, in `order`, and restarts their time to live if requested. */
  async function read<R>(found: RawBuilder<unknown>, order: RawBuilder<unknown>, refresh?: boolean): Promise<R[]> {
    const query =
      (refresh ?? settings.refreshOnRead)
        ? sql<R>`
          with found as (${found}), due as (
            select item.namespace, item.key from store_items as item
            join found on found.namespace = item.namespace and found.key = item.key
            where item.expires_at > ${now()}
            -- A locked row is being read or written, which sets its expiry.
            for update of item skip locked
          ), kept as (
            update store_items as item
            set expires_at = ${now()} + item.ttl_minutes * interval '1 minute'
            from due where due.namespace = item.namespace and due.key = item.key
          )
          select * from found order by ${order}`
        : sql<R>`${found}`;
    return (await query.execute(storage.db)).rows;
  }

  function isAlive(): RawBuilder<unknown> {
    return sql`(expires_at is null or expires_at > ${now()})`;
  }

  function now(): RawBuilder<unknown> {
    return sql`${new Date(clock.now())}::timestamptz`;
  }

  return { put, get, delete: remove, search, searchByMeaning, namespaces, sweep };
}
export type Items = ReturnType<typeof itemStore>;

const toItem = ({ namespace, key, value, exact, created_at, updated_at }: Row): Item => ({
  namespace,
  key,
  value: exact ?? value,
  createdAt: created_at,
  updatedAt: updated_at,
});

const pageSql = ({ limit, offset }: ItemSearch): RawBuilder<unknown> =>
  sql`limit ${limit ?? storePage.searchLimit} offset ${offset ?? 0}`;

/** The expiry settings of items. Times are minutes. */
export interface StoreSettings {
  defaultTtl: number | undefined;
  /** Whether reading an item restarts its time to live by default. */
  refreshOnRead: boolean;
  /** The interval (ms) of removing expired items, which are hidden before that too. */
  sweepEveryMs: number;
}

/** The default interval (minutes) of removing expired items: an item may have its own time to live. */
const usualSweepInterval = 60;
/** Limits (ms) of the interval. */
const sweepMs = { min: 1_000, max: 24 * 60 * 60_000 } as const;

/** Parses the key `store` of the graph configuration file. */
export function storeSettings(config: StoreConfig | null | undefined): StoreSettings {
  const { default_ttl, refresh_on_read, sweep_interval_minutes } = config?.ttl ?? {};
  const sweepEveryMs = (sweep_interval_minutes ?? usualSweepInterval) * 60_000;
  return {
    defaultTtl: default_ttl == null ? undefined : Math.min(default_ttl, maxItemTtlMinutes),
    refreshOnRead: refresh_on_read ?? true,
    sweepEveryMs: Math.min(Math.max(sweepEveryMs, sweepMs.min), sweepMs.max),
  };
}
