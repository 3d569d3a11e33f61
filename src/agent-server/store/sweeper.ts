import { pause, type Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { Items } from './items.ts';
import type { Logger } from '../../logger.ts';

/** The dependencies of the sweeper. */
export interface SweeperParts {
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
