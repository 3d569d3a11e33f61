import { type Clock, pause } from '../../clock.ts';
import type { Configuration } from '../configuration.ts';
import type { Storage } from '../storage/open.ts';
import { GraphStore } from './graph-store.ts';
import { Items } from './items.ts';
import { storeSettings } from './settings.ts';
import type { Logger } from '../../logger.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';

/** The store of a deployment, for its routes and its graphs. */
export interface DeploymentStore {
  items: Items;
  forGraphs: GraphStore;
  /** Starts to remove expired items periodically. */
  begin(): void;
  end(): Promise<void>;
}

/** The dependencies of the store. */
export interface DeploymentStoreParts {
  configuration: Pick<Configuration, 'file'>;
  storage: Storage;
  clock: Clock;
  log: Logger;
}

/** Creates the store on the deployment's database. */
export function storeOf({ configuration, storage, clock, log }: DeploymentStoreParts): DeploymentStore {
  const settings = storeSettings(configuration.file.store);
  const items = new Items(storage, clock, settings);
  const sweeper = new Sweeper({ items, everyMs: settings.sweepEveryMs, clock, log });
  let sweeping = Promise.resolve();
  return {
    items,
    forGraphs: new GraphStore(items),
    begin() {
      sweeping = sweeper.keepSweeping();
    },
    async end() {
      sweeper.stop();
      await sweeping;
    },
  };
}

/** The dependencies of the sweeper. */
interface SweeperParts {
  items: Items;
  /** The interval (ms). */
  everyMs: number;
  clock: Clock;
  log: Logger;
}

/** Periodically removes expired items, which are already hidden, to free space. */
export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #stop = new AbortController();

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  /** Sweeps until stopped, for the first time after one interval. */
  async keepSweeping(): Promise<void> {
    const { items, everyMs, clock, log } = this.#parts;
    const { signal } = this.#stop;
    const sweep = async (): Promise<void> => {
      while (!signal.aborted && (await items.sweep()));
    };
    for (;;) {
      await pause(clock, everyMs, signal);
      if (signal.aborted) return;
      await sweep().catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log.error(`Removing expired items of the store failed: ${String(error)}`);
      });
    }
  }

  stop(): void {
    this.#stop.abort();
  }
}
