import { MAX_TTL_MINUTES } from '../../contract/agent/thread.ts';
import type { ThreadTtl, ThreadTtlReply, ThreadTtlStrategy } from '../../contract/agent/thread.ts';

/** How long a thread lives, and what becomes of it then. */
export interface Lifetime {
  minutes: number;
  strategy: ThreadTtlStrategy;
}

/** What the configuration file says of the lives of threads, settled. */
export interface Lifetimes {
  /** Of threads without a time of their own, from their last change on; undefined: they live for ever. */
  ofAll: Lifetime | undefined;
  /** How often (ms) threads whose time is over are looked for. */
  sweepMs: number;
  /** How many threads one look takes at most. */
  sweepLimit: number;
}

/** The key `checkpointer.ttl` of the graph configuration file; times are minutes. */
export interface LifetimeConfig {
  strategy?: ThreadTtlStrategy | undefined;
  default_ttl?: number | null | undefined;
  sweep_interval_minutes?: number | null | undefined;
  sweep_limit?: number | null | undefined;
}

const DEFAULT_SWEEP_MINUTES = 5;
const DEFAULT_SWEEP_LIMIT = 1000;
/** The longest that a timer can sleep. */
const MOST_SLEEP_MS = 24 * 24 * 3600 * 1000;

/** Settles what the configuration file leaves out. */
export function lifetimesOf(config: LifetimeConfig | null | undefined): Lifetimes {
  const minutes = config?.default_ttl == null ? undefined : Math.min(config.default_ttl, MAX_TTL_MINUTES);
  const sweepMinutes = config?.sweep_interval_minutes ?? DEFAULT_SWEEP_MINUTES;
  return {
    ofAll: minutes === undefined ? undefined : { minutes, strategy: config?.strategy ?? 'delete' },
    sweepMs: Math.min(sweepMinutes * 60_000, MOST_SLEEP_MS),
    sweepLimit: config?.sweep_limit ?? DEFAULT_SWEEP_LIMIT,
  };
}

/** The time that a request gives a thread. */
export const lifetimeOf = (ttl: ThreadTtl): Lifetime =>
  typeof ttl === 'number'
    ? { minutes: ttl, strategy: 'delete' }
    : { minutes: ttl.ttl, strategy: ttl.strategy ?? 'delete' };

/** When a time that begins at `now` (ms since the epoch) is over. */
export const endOf = ({ minutes }: Lifetime, now: number): Date => new Date(now + minutes * 60_000);

/** A thread's time as the API shows it; null where it lives for ever. */
export function showLifetime(lifetime: Lifetime | undefined, expiresAt: Date | null): ThreadTtlReply | null {
  if (lifetime === undefined) return null;
  return {
    strategy: lifetime.strategy,
    ttl_minutes: lifetime.minutes,
    expires_at: expiresAt?.toISOString() ?? null,
  };
}
