import type { Clock } from '../../../kit/clock.ts';
import type { Configuration } from '../configuration.ts';
import type { Storage } from '../storage/open.ts';
import type { Embeddings } from './embeddings.ts';
import { GraphStore } from './graph-store.ts';
import { itemStore, type Items, storeSettings } from './items.ts';
import { SemanticIndex } from './semantic-index.ts';
import { vectorComparisonOf } from './vectors.ts';
import type { Logger } from '../../../kit/logger.ts';
import { polling } from '../storage/poll.ts';

interface StoreDependencies {
  configuration: Configuration;
  /** What `store.index.embed` names. */
  embeddings: Embeddings | undefined;
  storage: Storage;
  clock: Clock;
  log: Logger;
}

/** The store of a deployment, for its routes and its graphs. */
export async function storeOf({ configuration, embeddings, storage, clock, log }: StoreDependencies) {
  const { store: config } = configuration.file;
  const settings = storeSettings(config);
  const semanticIndex =
    config?.index && embeddings ? new SemanticIndex({ embeddings, config: config.index, clock, log }) : undefined;
  const comparison = semanticIndex && (await vectorComparisonOf(storage, log));
  const items = itemStore(storage, clock, settings, comparison);
  return {
    items,
    semanticIndex,
    forGraphs: new GraphStore({ items, semanticIndex, log }),
    sweep: itemSweep({ items, everyMs: settings.sweepEveryMs, clock, log }),
  };
}

interface SweepDependencies {
  items: Items;
  everyMs: number;
  clock: Clock;
  log: Logger;
}

/** Periodically removes expired items, which are already hidden, to free space; for the first time after one interval. */
export function itemSweep({ items, ...options }: SweepDependencies) {
  const sweep = async (): Promise<void> => {
    while (!polls.signal.aborted && (await items.sweep()));
  };
  const polls = polling(sweep, { ...options, what: 'Removing expired items of the store', isLate: true });
  return polls;
}
