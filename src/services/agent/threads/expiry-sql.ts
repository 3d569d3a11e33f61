import { sql, type RawBuilder } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import type { Lifetime } from './lifetime.ts';

/** When a thread expires, in SQL; null for no expiry. @param ofAll the default time to live; undefined for none. */
export const dueAt = (ofAll?: Pick<Lifetime, 'minutes'>): string => `
  case
    when ttl_minutes is not null then
      coalesce(expires_at, case when updated_at > pruned_at then updated_at + make_interval(secs => ttl_minutes * 60) end)
    when created_at >= (select since from thread_lifetime) and (pruned_at is null or updated_at > pruned_at)
      then updated_at + make_interval(secs => ${ofAll?.minutes ?? 'null'}::float8 * 60)
  end`;

/**
 * Whether a row of `threads` expired before `now`, in SQL: it is then hidden, even if not yet removed. Excludes threads
 * that only lose their history on expiry, and threads with unfinished runs.
 */
export type ExpiryCondition = (now: string) => string;

/** @param ofAll the default time to live; undefined for none. */
export const expiryCondition = (ofAll?: Lifetime): ExpiryCondition => {
  const due = dueAt(ofAll);
  return (now) =>
    `coalesce(unfinished = 0 and coalesce(ttl_strategy, '${ofAll?.strategy ?? 'delete'}') = 'delete' and ${due} <= ${now}, false)`;
};

/** A time (ms since the epoch) in SQL. */
export const sqlTime = (ms: number): string => `'${new Date(ms).toISOString()}'::timestamptz`;

/** Excludes rows of `table` that name an expired thread. Rows without a thread pass. */
export type LiveThreadCondition = (table: 'runs' | 'crons') => RawBuilder<boolean>;

export const liveThreadCondition =
  (isOver: ExpiryCondition, clock: Pick<Clock, 'now'>): LiveThreadCondition =>
  (table) => sql<boolean>`not exists (select from threads where threads.thread_id = ${sql.ref(`${table}.thread_id`)}
    and ${sql.raw(isOver(sqlTime(clock.now())))})`;
