import { sql, type RawBuilder } from 'kysely';
import { messageOf } from '../../../kit/errors.ts';
import type { Logger } from '../../../kit/logger.ts';
import type { Storage } from '../storage/open.ts';
import type { Vector } from './semantic-index.ts';

/** How the database compares vectors: exactly, all that a search has to compare. */
export interface VectorComparison {
  /** The maximum number of vectors of a search, of usual or fewer dimensions. */
  max: number;
  /** The cosine similarity of the column `embedding`. */
  similarity: (vector: Vector) => RawBuilder<number>;
}

/** The dimensions of usual vectors: comparing one takes about a tenth of a millisecond in arrays. */
const usualDims = 1_536;

/** The maximum number of vectors of a search: fewer of more dimensions, which take longer. */
export const maxCompared = ({ max }: VectorComparison, dims: number): number =>
  Math.floor(max * Math.min(1, usualDims / dims));

export const inArrays: VectorComparison = {
  max: 10_000,
  similarity: (vector) => sql`(
    select sum(one * other) from (select unnest(embedding) as one, unnest(${arrayText(vector)}::float8[]) as other) as pair
  )`,
};

/** With the extension pgvector: the negative inner product, of vectors of length 1. */
export const withPgvector: VectorComparison = {
  max: 100_000,
  similarity: (vector) => sql`-(embedding::vector <#> ${arrayText(vector)}::real[]::vector)`,
};

/** Creates the extension where the database has it. Not every user may: then vectors are compared in arrays. */
export async function vectorComparisonOf({ db }: Pick<Storage, 'db'>, log: Logger): Promise<VectorComparison> {
  const { rows: available } = await sql`select from pg_available_extensions where name = 'vector'`.execute(db);
  if (available.length === 0) return inArrays;
  await sql`create extension if not exists vector`
    .execute(db)
    .catch((error: unknown) =>
      log.warn(`The extension pgvector can't be created: ${messageOf(error)}. Let an administrator create it.`),
    );
  const { rows: usable } = await sql`select where to_regtype('vector') is not null`.execute(db);
  return usable.length === 0 ? inArrays : withPgvector;
}

interface NearestQuery {
  vector: Vector;
  comparison: VectorComparison;
  /** The conditions on the items. */
  where: RawBuilder<unknown>;
  columns: RawBuilder<unknown>;
  order: RawBuilder<unknown>;
}

/**
 * The items with their `score`, that of their best vector, and how many vectors were `compared`. Beyond the maximum,
 * those of the items written last are. The vectors of a previous value, and of other lengths, are skipped.
 */
export const nearestSql = ({ vector, comparison, where, columns, order }: NearestQuery): RawBuilder<unknown> => sql`
  with candidates as (
    select namespace, key, embedding from store_items join store_vectors using (namespace, key)
    where ${where} and written_at = updated_at and dims = ${vector.length}
    order by updated_at desc, namespace, key, position limit ${maxCompared(comparison, vector.length)}
  ), scored as (
    select namespace, key, max(${comparison.similarity(vector)}) as score from candidates group by namespace, key
  )
  select ${columns}, score, (select count(*)::int from candidates) as compared
  from store_items join scored using (namespace, key)
  order by ${order}`;

/** A vector as Postgres reads an array. */
export const arrayText = (vector: Vector): string => `{${vector.join(',')}}`;
