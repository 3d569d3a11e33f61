import { pause, type Clock } from '../../../kit/clock.ts';

/** The backlog (bytes) that a caller may have for any time. */
const much = 16 * 1024 * 1024;
/** The largest backlog (bytes) of a caller: one large state may be sent several times in a row. */
const maxBuffered = 256 * 1024 * 1024;
/** The largest backlog (bytes) of all callers of the process, beyond which the largest one is dropped. */
const maxBufferedInAll = 384 * 1024 * 1024;
/** The backlog (bytes) of one caller from which all are summed up. */
const worthCounting = 1024 * 1024;
/** How long (ms) a caller with a large backlog may read nothing. */
const stallMs = 10_000;

/** The backlog of a caller, from its stream's controller. */
export interface ClientBacklog {
  /** Bytes not yet read. */
  bytes: () => number;
  giveUp: () => void;
}

/** All callers with a backlog in this process, which share its memory. */
const everyone = new Set<ClientBacklog>();

/** Disconnects a caller that stopped reading, unlike one that is slower than its events, to bound the backlog. */
export class Backlog {
  readonly #clock: Clock;
  readonly #done: AbortSignal;
  readonly #waiting: ClientBacklog;
  readonly #all: Set<ClientBacklog>;
  #added = 0;
  #watching = false;

  /** @param done aborts at the end of the stream. @param all the callers that share the memory. */
  constructor(clock: Clock, done: AbortSignal, waiting: ClientBacklog, all: Set<ClientBacklog> = everyone) {
    this.#clock = clock;
    this.#done = done;
    this.#waiting = waiting;
    this.#all = all.add(waiting);
    done.addEventListener('abort', () => all.delete(waiting), { once: true });
  }

  grown(bytes: number): void {
    this.#added += bytes;
    const waits = this.#waiting.bytes();
    if (waits > maxBuffered) return this.#waiting.giveUp();
    if (waits > worthCounting) this.#boundAll();
    if (waits > much && !this.#watching) void this.#watch();
  }

  get #taken(): number {
    return this.#added - this.#waiting.bytes();
  }

  #boundAll(): void {
    let sum = 0;
    let largest: { waiting: ClientBacklog; bytes: number } | undefined;
    for (const waiting of this.#all) {
      const bytes = waiting.bytes();
      sum += bytes;
      if (largest === undefined || bytes > largest.bytes) largest = { waiting, bytes };
    }
    if (sum > maxBufferedInAll) largest?.waiting.giveUp();
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    let before = this.#taken;
    while (!this.#done.aborted && this.#waiting.bytes() > much) {
      // The end of the stream ends the wait early; the loop sees it.
      await pause(this.#clock, stallMs, this.#done);
      if (!this.#done.aborted && this.#taken === before) this.#waiting.giveUp();
      before = this.#taken;
    }
    this.#watching = false;
  }
}
