import { pause, type Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { ThreadLives } from './lives.ts';
import type { ThreadRemover } from './remover.ts';

/** What the sweeps of a process work with. */
export interface SweepParts {
  lives: ThreadLives;
  remover: ThreadRemover;
  /** How often (ms) it is looked. */
  everyMs: number;
  clock: Clock;
  /** Told when a thread is gone. */
  gone: (threadId: string) => void;
  log: (line: string) => void;
}

/** Looks again and again for threads whose time is over. However many processes look, each thread is seen to once. */
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

  /** @returns how many threads it saw to. */
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
        // One thread that can't be seen to does not keep the others from it.
        if (isDatabaseUnavailable(error)) throw error;
        log(`The time of thread ${thread.thread_id} is over, but it can't be removed: ${String(error)}`);
      }
    }
    return count;
  }

  async #keepLooking(): Promise<void> {
    const { clock, everyMs, log } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.look().catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log(`Looking for threads whose time is over failed: ${String(error)}`);
      });
      await pause(clock, everyMs, signal);
    }
  }
}
