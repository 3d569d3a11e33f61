import { systemClock } from '../../../src/clock.ts';
import type { Clock } from '../../../src/clock.ts';

/** The machine's time, moved: it goes on from whichever moment a test sets. */
export class SettableClock implements Clock {
  #offset = 0;

  constructor(at: string) {
    this.set(at);
  }

  /** Lets it be this moment. */
  set(at: string): void {
    this.#offset = Date.parse(at) - Date.now();
  }

  now(): number {
    return Date.now() + this.#offset;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }
}
