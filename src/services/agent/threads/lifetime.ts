import {
  maxTtlMinutes,
  type ThreadTtl,
  type ThreadTtlReply,
  type ThreadTtlStrategy,
} from '../../../contract/agent/thread.ts';
import type { GraphConfig } from '../../../agent-folder/graph-config/schema.ts';

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
const mostSleepMs = 24 * 24 * 3600 * 1000;

/** Applies the defaults. */
export function lifetimesOf(config: LifetimeConfig): Lifetimes {
  const minutes = config?.default_ttl == null ? undefined : Math.min(config.default_ttl, maxTtlMinutes);
  const sweepMinutes = config?.sweep_interval_minutes ?? defaultSweepMinutes;
  return {
    ofAll: minutes === undefined ? undefined : { minutes, strategy: config?.strategy ?? 'delete' },
    sweepMs: Math.min(sweepMinutes * 60_000, mostSleepMs),
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
