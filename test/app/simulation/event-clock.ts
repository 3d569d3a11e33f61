import { begin } from './terms.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../src/kit/clock.ts';

interface Sleeper {
  at: number;
  order: number;
  wake: () => void;
}

/**
 * A clock for whole histories: it stands still until `run` is called, then goes from one sleeper to the next. Each
 * sleeper does all its work before the next one continues. The sleepers are in a heap, which is faster than searching
 * for the first of many each time.
 */
export class EventClock implements Clock {
  #now: number;
  #order = 0;
  readonly #heap: Sleeper[] = [];
  readonly #left = new Set<Sleeper>();

  constructor(now = begin) {
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
      const stop = () => {
        this.#left.add(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        at: this.#now + Math.max(0, ms),
        order: this.#order++,
        wake: () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
      };
      signal?.addEventListener('abort', stop, { once: true });
      this.#push(sleeper);
    });
  }

  /** Does `act` after `ms`. What it throws ends `run`. */
  after(ms: number, act: () => void): void {
    this.#push({ at: this.#now + Math.max(0, ms), order: this.#order++, wake: act });
  }

  /** How many sleep. */
  get sleepers(): number {
    return this.#heap.length - this.#left.size;
  }

  /** Advances time until no sleeper is left, `until` (ms since the epoch) is reached, or `done` returns true. */
  async run(until: number, done: () => boolean = () => false): Promise<void> {
    await nextTurn();
    for (;;) {
      const first = this.#heap[0];
      if (!first || first.at > until || done()) return;
      this.#pop();
      if (this.#left.delete(first)) continue;
      this.#now = first.at;
      first.wake();
      await nextTurn();
    }
  }

  #push(sleeper: Sleeper): void {
    const heap = this.#heap;
    let at = heap.push(sleeper) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (!parent || !isBefore(sleeper, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = sleeper;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      let child = heap[below];
      const other = heap[below + 1];
      if (child && other && isBefore(other, child)) {
        below += 1;
        child = other;
      }
      if (!child || !isBefore(child, last)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
}

const isBefore = (one: Sleeper, other: Sleeper): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);
