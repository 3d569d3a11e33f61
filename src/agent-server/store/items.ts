import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Clock } from '../../clock.ts';
import { storePage } from '../../contract/agent/store-item.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { MetadataFilter } from '../auth/filters.ts';
import type { Storage } from '../storage/open.ts';
import { storable } from '../storage/storable.ts';
import type { Tables } from '../storage/tables.ts';
import type { Condition } from './filter.ts';
import { rangeBelow } from './namespace.ts';
import type { StoreSettings } from './settings.ts';

/** An item of the store, in the engine's form. */
export interface Item {
  namespace: string[];
  key: string;
  value: FreeObject;
  createdAt: Date;
  updatedAt: Date;
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

const minuteMs = 60_000;
const itemColumns = sql`namespace, key, value, exact, created_at, updated_at`;
const mostSweptAtOnce = 1000;

const isWithin = ({ from, to }: { from: string[]; to: string[] }): RawBuilder<unknown> =>
  sql`namespace >= ${from}::text[] and namespace < ${to}::text[]`;

/**
 * The items of a deployment, for the routes and the graphs. Each call is one statement and ignores expired items.
 * Callers have validated namespaces, keys and filters.
 */
export class Items {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #settings: StoreSettings;

  constructor(storage: Storage, clock: Clock, settings: StoreSettings) {
    this.#storage = storage;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** Creates an item, or replaces its value. `ttl`: minutes; null for no expiry, the configured default if absent. */
  async put(namespace: readonly string[], key: string, value: FreeObject, ttl?: number | null): Promise<void> {
    const now = this.#clock.now();
    const minutes = ttl === undefined ? (this.#settings.defaultTtl ?? null) : ttl;
    const exact = JSON.stringify(value);
    const searched = storable(value);
    await this.#storage.db
      .insertInto('store_items')
      .values({
        namespace: [...namespace],
        key,
        value: searched,
        exact: searched === exact ? null : exact,
        created_at: new Date(now),
        updated_at: new Date(now),
        ttl_minutes: minutes,
        expires_at: minutes === null ? null : new Date(now + minutes * minuteMs),
      })
      .onConflict((on) =>
        on.columns(['namespace', 'key']).doUpdateSet({
          value: sql`excluded.value`,
          exact: sql`excluded.exact`,
          // An expired item no longer exists: this is a new one.
          created_at: sql`case when store_items.expires_at <= excluded.updated_at then excluded.created_at else store_items.created_at end`,
          updated_at: sql`excluded.updated_at`,
          ttl_minutes: sql`excluded.ttl_minutes`,
          expires_at: sql`excluded.expires_at`,
        }),
      )
      .execute();
  }

  /** One item; undefined if there is none. */
  async get(namespace: readonly string[], key: string, refresh?: boolean): Promise<Item | undefined> {
    const found = sql`
      select ${itemColumns} from store_items
      where namespace = ${[...namespace]}::text[] and key = ${key} and ${this.#isAlive()}`;
    const [row] = await this.#read(found, sql`key`, refresh);
    return row;
  }

  /** Deletes an item; a missing one is no error. */
  async delete(namespace: readonly string[], key: string): Promise<void> {
    await sql`delete from store_items where namespace = ${[...namespace]}::text[] and key = ${key}`.execute(
      this.#storage.db,
    );
  }

  /** One page of the matches, last written first. */
  async search({ prefix, conditions = [], access = {}, limit, offset, refresh }: ItemSearch): Promise<Item[]> {
    const range = rangeBelow(prefix);
    const where = [
      this.#isAlive(),
      ...(range ? [isWithin(range)] : []),
      ...conditions.map(conditionSql),
      ...accessSql(access),
    ];
    const order = sql`updated_at desc, namespace, key`;
    const found = sql`
      select ${itemColumns} from store_items where ${sql.join(where, sql` and `)}
      order by ${order} limit ${limit ?? storePage.searchLimit} offset ${offset ?? 0}`;
    return this.#read(found, order, refresh);
  }

  /** One page of the namespaces that contain items, sorted. */
  async namespaces({
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
      this.#isAlive(),
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
      order by 1 limit ${limit ?? storePage.namespacesLimit} offset ${offset ?? 0}`.execute(this.#storage.db);
    return rows.map((row) => row.shown);
  }

  /** Removes a batch of expired items, except rows locked by other processes. @returns whether there may be more. */
  async sweep(): Promise<boolean> {
    const { numAffectedRows = 0n } = await sql`
      delete from store_items where (namespace, key) in (
        select namespace, key from store_items where expires_at <= ${this.#now()}
        limit ${mostSweptAtOnce} for update skip locked
      )`.execute(this.#storage.db);
    return numAffectedRows >= BigInt(mostSweptAtOnce);
  }

  /** Reads what `found` finds, in `order`, and restarts their time to live if requested. */
  async #read(found: RawBuilder<unknown>, order: RawBuilder<unknown>, refresh?: boolean): Promise<Item[]> {
    const query =
      (refresh ?? this.#settings.refreshOnRead)
        ? sql<Row>`
          with found as (${found}), due as (
            select item.namespace, item.key from store_items as item
            join found on found.namespace = item.namespace and found.key = item.key
            where item.expires_at > ${this.#now()}
            -- A locked row is being read or written, which sets its expiry.
            for update of item skip locked
          ), kept as (
            update store_items as item
            set expires_at = ${this.#now()} + item.ttl_minutes * interval '1 minute'
            from due where due.namespace = item.namespace and due.key = item.key
          )
          select * from found order by ${order}`
        : sql<Row>`${found}`;
    const { rows } = await query.execute(this.#storage.db);
    return rows.map(({ namespace, key, value, exact, created_at, updated_at }) => ({
      namespace,
      key,
      value: exact ?? value,
      createdAt: created_at,
      updatedAt: updated_at,
    }));
  }

  #isAlive(): RawBuilder<unknown> {
    return sql`(expires_at is null or expires_at > ${this.#now()})`;
  }

  #now(): RawBuilder<unknown> {
    return sql`${new Date(this.#clock.now())}::timestamptz`;
  }
}

const json = (value: unknown): RawBuilder<unknown> => sql`${storable(value)}::jsonb`;

/** Whether the database holds a value as it is, and no other one in its place (`storable`). */
const isStored = (value: unknown): boolean =>
  JSON.parse(storable(value)) === value && !String(value).includes('\uFFFD');

/** The conditions of a filter, as `authorizeStore` matches it against a single item. */
const accessSql = (filter: MetadataFilter): RawBuilder<unknown>[] =>
  Object.entries(filter).map(([field, value]) => {
    const isList = typeof value === 'object' && value !== null;
    const operands = isList ? value : [value];
    if (![field, ...operands].every((each) => isStored(each))) return sql`false`;
    const texts = operands.filter((each) => typeof each === 'string');
    if (field === 'key' || field === 'namespace') {
      if (texts.length < operands.length || isList !== (field === 'namespace')) return sql`false`;
      return isList ? sql`namespace @> ${texts}::text[]` : sql`key = ${texts[0]}`;
    }
    return conditionSql(isList ? { kind: 'contains', field, value } : { kind: 'equals', field, value });
  });

/** A condition on the column `value`. A missing field equals nothing, and differs from everything. */
function conditionSql(condition: Condition): RawBuilder<boolean> {
  const field = sql`value -> ${condition.field}::text`;
  switch (condition.kind) {
    case 'equals':
      return sql`${field} = ${json(condition.value)}`;
    case 'differs':
      return sql`${field} is distinct from ${json(condition.value)}`;
    case 'compares': {
      // Postgres also orders values of different types, which must not match.
      const operand = json(condition.value);
      return sql`(jsonb_typeof(${field}) = jsonb_typeof(${operand}) and ${field} ${sql.raw(condition.comparison)} ${operand})`;
    }
    case 'is-one-of':
      return sql`${field} in (select jsonb_array_elements(${json(condition.values)}))`;
    case 'is-none-of':
      return sql`coalesce(${field} not in (select jsonb_array_elements(${json(condition.values)})), true)`;
    case 'is-there':
      return sql`jsonb_exists(value, ${condition.field}::text) = ${condition.there}`;
    case 'contains':
      return sql`${field} @> ${json(condition.value)}`;
  }
}
