import { MAX_ITEM_TTL_MINUTES } from '../../contract/agent/store-item.ts';
import type { StoreConfig } from '../../graph-config/retention.ts';

/** How the items of a deployment live. Times are minutes. */
export interface StoreSettings {
  /** What an item gets that says nothing of its own; undefined for ever. */
  defaultTtl: number | undefined;
  /** Whether reading an item begins its time anew, where a request does not say. */
  refreshOnRead: boolean;
  /** How long (ms) from one removal of expired items to the next. They are not shown before either. */
  sweepEveryMs: number;
}

/** How often (minutes) expired items are removed where nobody says: an item may bring a time to live of its own. */
const USUAL_SWEEP_INTERVAL = 60;
/** A removal is cheap, and a timer holds no more than some weeks. */
const SWEEP_MS = { atLeast: 1_000, atMost: 24 * 60 * 60_000 } as const;

/** How the key `store` of the graph configuration file wants items to be kept. */
export function storeSettings(config: StoreConfig | null | undefined): StoreSettings {
  const { default_ttl, refresh_on_read, sweep_interval_minutes } = config?.ttl ?? {};
  return {
    defaultTtl: default_ttl == null ? undefined : Math.min(default_ttl, MAX_ITEM_TTL_MINUTES),
    refreshOnRead: refresh_on_read ?? true,
    sweepEveryMs: within((sweep_interval_minutes ?? USUAL_SWEEP_INTERVAL) * 60_000),
  };
}

const within = (ms: number): number => Math.min(Math.max(ms, SWEEP_MS.atLeast), SWEEP_MS.atMost);
