import type { Clock } from '../../clock.ts';
import type { Configuration } from '../configuration.ts';
import type { Storage } from '../storage/open.ts';
import { GraphStore } from './graph-store.ts';
import { Items } from './items.ts';
import { storeSettings } from './settings.ts';
import { Sweeper } from './sweeper.ts';
import type { Logger } from '../../logger.ts';

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
