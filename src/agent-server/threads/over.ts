import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Lifetime } from './lifetime.ts';

/** When a thread's time is over, in SQL; null while no end is set. `minutes` is what threads without a time of their own have. */
export const dueAt = (minutes: string): string => `
  case
    when ttl_minutes is not null then
      coalesce(expires_at, case when updated_at > pruned_at then updated_at + make_interval(secs => ttl_minutes * 60) end)
    when created_at >= (select since from thread_lifetime) and (pruned_at is null or updated_at > pruned_at)
      then updated_at + make_interval(secs => ${minutes}::float8 * 60)
  end`;

/**
 * Whether a row of `threads` is of a thread whose time was over before `now`, in SQL: one that is there for nobody, though
 * it may not have been removed yet. One that only loses its past is none, nor is one with a run that has not ended.
 */
export type IsOver = (now: string) => string;

/** @param ofAll what threads without a time of their own have; undefined: they live for ever. */
export const overBy = (ofAll?: Lifetime): IsOver => {
  const due = dueAt(ofAll === undefined ? 'null' : String(ofAll.minutes));
  return (now) =>
    `coalesce(unfinished = 0 and coalesce(ttl_strategy, '${ofAll?.strategy ?? 'delete'}') = 'delete' and ${due} <= ${now}, false)`;
};

/** A time (ms since the epoch) as SQL has it. */
export const sqlTime = (ms: number): string => `'${new Date(ms).toISOString()}'::timestamptz`;

/** Of a row of `table` that names a thread: that the thread's time is not over. One that names none has no such time. */
export type ThreadIsThere = (table: 'runs' | 'crons') => RawBuilder<boolean>;

export const thereBy =
  (isOver: IsOver, clock: Pick<Clock, 'now'>): ThreadIsThere =>
  (table) => sql<boolean>`not exists (select from threads where threads.thread_id = ${sql.ref(`${table}.thread_id`)}
    and ${sql.raw(isOver(sqlTime(clock.now())))})`;
