import { maxItemTtlMinutes } from '../../../contract/agent/store-item.ts';
import type { StoreConfig } from '../../../agent-folder/graph-config/retention.ts';

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
const sweepMs = { atLeast: 1_000, atMost: 24 * 60 * 60_000 } as const;

/** Parses the key `store` of the graph configuration file. */
export function storeSettings(config: StoreConfig | null | undefined): StoreSettings {
  const { default_ttl, refresh_on_read, sweep_interval_minutes } = config?.ttl ?? {};
  const sweepEveryMs = (sweep_interval_minutes ?? usualSweepInterval) * 60_000;
  return {
    defaultTtl: default_ttl == null ? undefined : Math.min(default_ttl, maxItemTtlMinutes),
    refreshOnRead: refresh_on_read ?? true,
    sweepEveryMs: Math.min(Math.max(sweepEveryMs, sweepMs.atLeast), sweepMs.atMost),
  };
}
