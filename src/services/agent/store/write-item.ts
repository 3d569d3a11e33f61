import { sql, type Kysely } from 'kysely';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { storableJson } from '../../../kit/json-text.ts';
import type { Tables } from '../storage/tables.ts';
import type { Vector } from './semantic-index.ts';
import { arrayText } from './vectors.ts';

interface WrittenItem {
  namespace: readonly string[];
  key: string;
  value: FreeObject;
  /** The time to live; null for none. */
  ttlMinutes: number | null;
  writtenAt: Date;
}

const minuteMs = 60_000;

/** Creates an item, or replaces its value, in one statement. */
export async function writeItem(
  db: Kysely<Tables>,
  { namespace, key, value, ttlMinutes, writtenAt }: WrittenItem,
): Promise<void> {
  const exact = JSON.stringify(value);
  const searched = storableJson(value);
  await db
    .insertInto('store_items')
    .values({
      namespace: [...namespace],
      key,
      value: searched,
      exact: searched === exact ? null : exact,
      created_at: writtenAt,
      updated_at: writtenAt,
      ttl_minutes: ttlMinutes,
      expires_at: ttlMinutes === null ? null : new Date(writtenAt.getTime() + ttlMinutes * minuteMs),
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

/** Replaces the vectors of an item that this transaction has written, and so locked. */
export async function replaceVectors(
  db: Kysely<Tables>,
  { namespace, key, writtenAt }: WrittenItem,
  vectors: readonly Vector[],
): Promise<void> {
  await sql`delete from store_vectors where namespace = ${[...namespace]}::text[] and key = ${key}`.execute(db);
  if (vectors.length === 0) return;
  await sql`
    insert into store_vectors (namespace, key, position, written_at, dims, embedding)
    select
      ${[...namespace]}::text[], ${key}::text, position, ${writtenAt}::timestamptz,
      ${vectors[0]?.length ?? 0}::int, vector::real[]
    from unnest(${vectors.map(arrayText)}::text[]) with ordinality as each (vector, position)`.execute(db);
}
