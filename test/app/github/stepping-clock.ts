import type { Clock } from '../../../src/kit/clock.ts';

/**
 * A clock whose sleeps resolve at once and advance it; `slept` holds their lengths (ms). Long ones can stay pending.
 */
export class SteppingClock implements Clock {
  readonly slept: number[] = [];
  #now: number;
  /** Sleeps of this length and above do not pass by themselves (ms). */
  hangingFrom = 30_000;

  constructor(now = Date.parse('2026-01-05T08:00:00Z')) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms < this.hangingFrom) {
      this.slept.push(ms);
      this.#now += ms;
      return;
    }
    await new Promise<void>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }
}
