import { type Clock, pause } from '../../clock.ts';
import type { Configuration } from '../configuration.ts';
import type { Storage } from '../storage/open.ts';
import { GraphStore } from './graph-store.ts';
import { Items } from './items.ts';
import { storeSettings } from './settings.ts';
import type { Logger } from '../../logger.ts';
import { poll } from '../runs/poll.ts';

/** The store of a deployment, for its routes and its graphs. */
export function storeOf(parts: { configuration: Configuration; storage: Storage; clock: Clock; log: Logger }) {
  const { configuration, storage, clock, log } = parts;
  const settings = storeSettings(configuration.file.store);
  const items = new Items(storage, clock, settings);
  const sweeper = new Sweeper({ items, everyMs: settings.sweepEveryMs, clock, log });
  let sweeping = Promise.resolve();
  return {
    items,
    forGraphs: new GraphStore(items, log),
    begin() {
      sweeping = sweeper.keepSweeping();
    },
    async end() {
      sweeper.stop();
      await sweeping;
    },
  };
}

interface SweeperParts {
  items: Items;
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
    const { items, everyMs, clock } = this.#parts;
    const { signal } = this.#stop;
    const sweep = async (): Promise<void> => {
      while (!signal.aborted && (await items.sweep()));
    };
    await pause(clock, everyMs, signal);
    await poll(sweep, { ...this.#parts, what: 'Removing expired items of the store', signal });
  }

  stop(): void {
    this.#stop.abort();
  }
}
