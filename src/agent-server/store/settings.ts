import { MAX_ITEM_TTL_MINUTES } from '../../contract/agent/store-item.ts';
import type { StoreConfig } from '../../graph-config/keeping.ts';
import type { FieldPath } from '../../located/problem.ts';

/** How the items of a deployment live. Times are minutes. */
export interface StoreSettings {
  /** What an item gets that says nothing of its own; undefined for ever. */
  defaultTtl: number | undefined;
  /** Whether reading an item begins its time anew, where a request does not say. */
  refreshOnRead: boolean;
  /** How long (ms) from one removal of expired items to the next. They are not shown before either. */
  sweepEveryMs: number;
}

/** What the configuration file asks of the store; or the part that can't be done here, and why. */
export type StoreAsked = { ok: true; settings: StoreSettings } | { ok: false; path: FieldPath; problem: string };

/** How often (minutes) expired items are removed where nobody says: an item may bring a time to live of its own. */
const USUAL_SWEEP_INTERVAL = 60;
/** A removal is cheap, and a timer holds no more than some weeks. */
const SWEEP_MS = { atLeast: 1_000, atMost: 24 * 60 * 60_000 } as const;

/** Reads the key `store` of the graph configuration file. */
export function storeSettings(config: StoreConfig | null | undefined): StoreAsked {
  if (config?.index != null) {
    const problem =
      'search by meaning needs vectors in Postgres, which this server does not have: take `store.index` out';
    return { ok: false, path: ['store', 'index'], problem };
  }
  if (config?.path !== undefined) {
    const problem = "the store of a deployment is this server's own: take `store.path` out";
    return { ok: false, path: ['store', 'path'], problem };
  }
  const { default_ttl, refresh_on_read, sweep_interval_minutes } = config?.ttl ?? {};
  return {
    ok: true,
    settings: {
      defaultTtl: default_ttl == null ? undefined : Math.min(default_ttl, MAX_ITEM_TTL_MINUTES),
      refreshOnRead: refresh_on_read ?? true,
      sweepEveryMs: within((sweep_interval_minutes ?? USUAL_SWEEP_INTERVAL) * 60_000),
    },
  };
}

const within = (ms: number): number => Math.min(Math.max(ms, SWEEP_MS.atLeast), SWEEP_MS.atMost);
