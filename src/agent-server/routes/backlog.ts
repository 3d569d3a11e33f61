import { pause, type Clock } from '../../clock.ts';

/** What may wait (bytes) for a caller for as long as it takes. */
const MUCH = 16 * 1024 * 1024;
/** What may wait (bytes) at most: one large state can be told several times before anybody could have read it. */
const MOST = 256 * 1024 * 1024;
/** What may wait (bytes) for all callers of the process together, before whoever is farthest behind is given up. */
const MOST_IN_ALL = 384 * 1024 * 1024;
/** From how much on (bytes) that waits for one caller all of them are counted. */
const WORTH_COUNTING = 1024 * 1024;
/** How long (ms) a caller for whom much waits may take nothing. */
const STALL_MS = 10_000;

/** How much waits for a caller, as a stream's controller knows it. */
export interface Waiting {
  /** Bytes that nobody has taken yet. */
  bytes: () => number;
  /** Gives the caller up. */
  giveUp: () => void;
}

/** Everybody for whom something may wait in this process: memory is one for all of them. */
const everyone = new Set<Waiting>();

/**
 * Tells a caller who does not read from one for whom large events come faster than a connection takes them. The first
 * is given up, so that nothing piles up without bound.
 */
export class Backlog {
  readonly #clock: Clock;
  readonly #done: AbortSignal;
  readonly #waiting: Waiting;
  readonly #all: Set<Waiting>;
  #added = 0;
  #watching = false;

  /**
   * @param done aborts when the stream has ended, however it did.
   * @param all everybody who shares the memory.
   */
  constructor(clock: Clock, done: AbortSignal, waiting: Waiting, all: Set<Waiting> = everyone) {
    this.#clock = clock;
    this.#done = done;
    this.#waiting = waiting;
    this.#all = all.add(waiting);
    done.addEventListener('abort', () => all.delete(waiting), { once: true });
  }

  /** So many bytes were just added to what waits. */
  grown(bytes: number): void {
    this.#added += bytes;
    const waits = this.#waiting.bytes();
    if (waits > MOST) return this.#waiting.giveUp();
    if (waits > WORTH_COUNTING) this.#boundAll();
    if (waits > MUCH && !this.#watching) void this.#watch();
  }

  get #taken(): number {
    return this.#added - this.#waiting.bytes();
  }

  #boundAll(): void {
    let sum = 0;
    let most: { waiting: Waiting; bytes: number } | undefined;
    for (const waiting of this.#all) {
      const bytes = waiting.bytes();
      sum += bytes;
      if (most === undefined || bytes > most.bytes) most = { waiting, bytes };
    }
    if (sum > MOST_IN_ALL) most?.waiting.giveUp();
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    let before = this.#taken;
    while (!this.#done.aborted && this.#waiting.bytes() > MUCH) {
      // The end of the stream ends the wait early; the loop sees it.
      await pause(this.#clock, STALL_MS, this.#done);
      if (!this.#done.aborted && this.#taken === before) this.#waiting.giveUp();
      before = this.#taken;
    }
    this.#watching = false;
  }
}
