import { type Clock, pause } from '../../../kit/clock.ts';
import type { Configuration } from '../configuration.ts';
import type { Storage } from '../storage/open.ts';
import type { Embeddings } from './embeddings.ts';
import { GraphStore } from './graph-store.ts';
import { Items, storeSettings } from './items.ts';
import { SemanticIndex } from './semantic-index.ts';
import { vectorComparisonOf } from './vectors.ts';
import type { Logger } from '../../../kit/logger.ts';
import { poll } from '../storage/poll.ts';

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
  const items = new Items(storage, clock, settings, comparison);
  const sweeper = new Sweeper({ items, everyMs: settings.sweepEveryMs, clock, log });
  let sweeping = Promise.resolve();
  return {
    items,
    semanticIndex,
    forGraphs: new GraphStore({ items, semanticIndex, log }),
    begin() {
      sweeping = sweeper.keepSweeping();
    },
    async end() {
      sweeper.stop();
      await sweeping;
    },
  };
}

interface SweeperDependencies {
  items: Items;
  everyMs: number;
  clock: Clock;
  log: Logger;
}

/** Periodically removes expired items, which are already hidden, to free space. */
export class Sweeper {
  readonly #dependencies: SweeperDependencies;
  readonly #stop = new AbortController();

  constructor(dependencies: SweeperDependencies) {
    this.#dependencies = dependencies;
  }

  /** Sweeps until stopped, for the first time after one interval. */
  async keepSweeping(): Promise<void> {
    const { items, everyMs, clock } = this.#dependencies;
    const { signal } = this.#stop;
    const sweep = async (): Promise<void> => {
      while (!signal.aborted && (await items.sweep()));
    };
    await pause(clock, everyMs, signal);
    await poll(sweep, { ...this.#dependencies, what: 'Removing expired items of the store', signal });
  }

  stop(): void {
    this.#stop.abort();
  }
}
