import { sql, type RawBuilder } from 'kysely';
import {
  maxTtlMinutes,
  type ThreadTtl,
  type ThreadTtlReply,
  type ThreadTtlStrategy,
} from '../../../contract/agent/thread.ts';
import type { GraphConfig } from '../../../agent-folder/graph-config/schema.ts';
import type { Clock } from '../../../kit/clock.ts';

export interface Lifetime {
  minutes: number;
  strategy: ThreadTtlStrategy;
}

/** The resolved expiry settings of the configuration file. */
export interface Lifetimes {
  /** For threads without their own, counted from their last change; undefined for no expiry. */
  ofAll: Lifetime | undefined;
  /** The polling interval (ms) for expired threads. */
  sweepMs: number;
  sweepLimit: number;
}

/** The key `checkpointer.ttl` of the graph configuration file; times are minutes. */
export type LifetimeConfig = NonNullable<GraphConfig['checkpointer']>['ttl'];

const defaultSweepMinutes = 5;
const defaultSweepLimit = 1000;
/** The longest timer. */
const maxSleepMs = 24 * 24 * 3600 * 1000;

/** Applies the defaults. */
export function lifetimesOf(config: LifetimeConfig): Lifetimes {
  const minutes = config?.default_ttl == null ? undefined : Math.min(config.default_ttl, maxTtlMinutes);
  const sweepMinutes = config?.sweep_interval_minutes ?? defaultSweepMinutes;
  return {
    ofAll: minutes === undefined ? undefined : { minutes, strategy: config?.strategy ?? 'delete' },
    sweepMs: Math.min(sweepMinutes * 60_000, maxSleepMs),
    sweepLimit: config?.sweep_limit ?? defaultSweepLimit,
  };
}

export const lifetimeOf = (ttl: ThreadTtl): Lifetime =>
  typeof ttl === 'number'
    ? { minutes: ttl, strategy: 'delete' }
    : { minutes: ttl.ttl, strategy: ttl.strategy ?? 'delete' };

/** When a time to live that starts at `now` (ms since the epoch) ends. */
export const endOf = ({ minutes }: Lifetime, now: number): Date => new Date(now + minutes * 60_000);

/** Serializes a thread's time to live for the API; null for no expiry. */
export function showLifetime(lifetime: Lifetime | undefined, expiresAt: Date | null): ThreadTtlReply | null {
  if (lifetime === undefined) return null;
  return {
    strategy: lifetime.strategy,
    ttl_minutes: lifetime.minutes,
    expires_at: expiresAt?.toISOString() ?? null,
  };
}

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
