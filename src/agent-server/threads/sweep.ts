import { pause, type Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { ThreadExpiry } from './thread-expiry.ts';
import type { ThreadRemover } from './remover.ts';
import type { Logger } from '../../logger.ts';

/** The dependencies of the sweep. */
export interface SweepParts {
  lives: ThreadExpiry;
  remover: ThreadRemover;
  /** The polling interval (ms). */
  everyMs: number;
  clock: Clock;
  /** Called when a thread was deleted. */
  gone: (threadId: string) => void;
  log: Logger;
}

/** Periodically handles expired threads. With several processes, each thread is handled once. */
export class ThreadSweep {
  readonly #parts: SweepParts;
  readonly #stop = new AbortController();
  #looking: Promise<void> = Promise.resolve();

  constructor(parts: SweepParts) {
    this.#parts = parts;
  }

  begin(): void {
    this.#looking = this.#keepLooking();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
  }

  /** @returns the number of threads handled. */
  async look(): Promise<number> {
    const { lives, remover, gone, log } = this.#parts;
    let count = 0;
    for (const thread of await lives.due()) {
      if (this.#stop.signal.aborted) break;
      try {
        const keeps = thread.strategy === 'keep_latest';
        if (!(await lives.end(thread, keeps && (await remover.withAncestors(thread))))) continue;
        count += 1;
        if (!keeps) gone(thread.thread_id);
      } catch (error) {
        // A failure for one thread does not stop the others.
        if (isDatabaseUnavailable(error)) throw error;
        log.error(
          { threadId: thread.thread_id },
          `Thread ${thread.thread_id} has expired, but can't be removed: ${String(error)}`,
        );
      }
    }
    return count;
  }

  async #keepLooking(): Promise<void> {
    const { clock, everyMs, log } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.look().catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log.error(`Polling for expired threads failed: ${String(error)}`);
      });
      await pause(clock, everyMs, signal);
    }
  }
}
