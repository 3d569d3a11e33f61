import { pause, type Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { Items } from './items.ts';

/** What the removal of expired items works with. */
export interface SweeperParts {
  items: Items;
  /** How long (ms) from one removal to the next. */
  everyMs: number;
  clock: Clock;
  log: (line: string) => void;
}

/** Removes expired items now and then: they are not shown any more, and only take room. */
export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #stop = new AbortController();

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  /** Sweeps again and again until it is stopped, for the first time when the first interval is over. */
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
        if (!isDatabaseUnavailable(error)) log(`Removing expired items of the store failed: ${String(error)}`);
      });
    }
  }

  stop(): void {
    this.#stop.abort();
  }
}
