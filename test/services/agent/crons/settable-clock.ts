import { systemClock } from '../../../../src/kit/clock.ts';
import type { Clock } from '../../../../src/kit/clock.ts';

/** The longest sleep (ms) of a poller. */
const LOOK_MS = 1000;

/** The system time with an offset, set by the test. Setting it ends every sleep. */
export class SettableClock implements Clock {
  #offset = 0;
  readonly #waiting = new Set<AbortController>();

  constructor(at: string) {
    this.set(at);
  }

  /** Sets the current time. */
  set(at: string): void {
    this.#offset = Date.parse(at) - Date.now();
    for (const waiting of this.#waiting) waiting.abort();
  }

  now(): number {
    return Date.now() + this.#offset;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms > LOOK_MS) return systemClock.sleep(ms, signal);
    const over = new AbortController();
    this.#waiting.add(over);
    try {
      await systemClock.sleep(ms, signal ? AbortSignal.any([signal, over.signal]) : over.signal);
    } catch (error) {
      if (signal?.aborted || !over.signal.aborted) throw error;
    } finally {
      this.#waiting.delete(over);
    }
  }
}
