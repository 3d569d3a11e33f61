import type { Clock } from '../../../src/kit/clock.ts';

interface Sleeper {
  at: number;
  wake: () => void;
}

/**
 * A clock that advances when every task sleeps: it jumps to the earliest wake-up time. A minute of rollout takes no
 * time and keeps its order.
 */
export class SimulatedClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];
  #isTicking = false;

  constructor(now = Date.parse('2026-11-21T06:00:00Z')) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const sleeper = {
        at: this.#now + ms,
        wake: () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
      };
      const stop = () => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', stop, { once: true });
      this.#sleepers.push(sleeper);
      this.#tick();
    });
  }

  /** Calls `act` after `ms`, outside of the deploy run. */
  after(ms: number, act: () => void): void {
    void this.sleep(ms).then(act);
  }

  #tick(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    setImmediate(() => {
      this.#isTicking = false;
      const first = this.#sleepers.toSorted((a, b) => a.at - b.at)[0];
      if (!first) return;
      this.#sleepers = this.#sleepers.filter((each) => each !== first);
      this.#now = Math.max(this.#now, first.at);
      first.wake();
      this.#tick();
    });
  }
}
