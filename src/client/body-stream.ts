import type { Dispatcher } from 'undici';
import type { SendFailure } from './send-failure.ts';

/** Above this many bytes waiting to be read the other side is told to pause. */
const HIGH_WATER = 256 * 1024;

/** How long a stream may be silent, and how it is given up. */
export interface BodyStreamOptions {
  /** The longest that nothing at all may come while somebody waits for it (ms). */
  idleMs: number;
  /** Closes the exchange that feeds this stream. */
  close: () => void;
}

/** How it ended: whole, left by its reader, broken, or given up by the caller for a reason of his own. */
type End = 'open' | 'whole' | 'left' | SendFailure | { aborted: unknown };

/**
 * The bytes of an answer as they come, with a bounded queue. It is read once. A failure is given after all bytes before
 * it, as the error that `explain` makes of it.
 */
export class BodyStream {
  readonly #controller: Dispatcher.DispatchController;
  readonly #options: BodyStreamOptions;
  readonly #timer: NodeJS.Timeout;
  #queue: Uint8Array[] = [];
  #queued = 0;
  #end: End = 'open';
  #wake: (() => void) | undefined;

  constructor(controller: Dispatcher.DispatchController, options: BodyStreamOptions) {
    this.#controller = controller;
    this.#options = options;
    this.#timer = setTimeout(() => this.#idle(), options.idleMs);
  }

  /**
   * The bytes, in the pieces they came in. Leaving early closes the connection at once, also while more is waited for:
   * that is why this is no generator, whose `return` would wait as well.
   */
  bytes(explain: (failure: SendFailure) => Error): AsyncIterableIterator<Uint8Array, undefined> {
    return {
      next: () => this.#next(explain),
      return: async () => {
        this.close();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** True once its last byte has come. */
  get whole(): boolean {
    return this.#end === 'whole';
  }

  /** Gives up an answer that nobody will read on. */
  close(): void {
    const open = this.#end === 'open';
    this.#queue = [];
    this.#settle('left');
    if (open) this.#options.close();
  }

  push(chunk: Uint8Array): void {
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    if (this.#queued >= HIGH_WATER) this.#controller.pause();
    this.#timer.refresh();
    this.#wakeUp();
  }

  end(): void {
    this.#settle('whole');
  }

  fail(failure: SendFailure): void {
    this.#settle(failure);
  }

  /** The caller's own end: the bytes that wait are given up, and the reading ends with this reason. */
  abort(reason: unknown): void {
    this.#queue = [];
    this.#settle({ aborted: reason });
  }

  async #next(explain: (failure: SendFailure) => Error): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const chunk = this.#queue.shift();
      if (chunk) {
        this.#queued -= chunk.length;
        if (this.#queued < HIGH_WATER) this.#controller.resume();
        return { done: false, value: chunk };
      }
      if (this.#end === 'whole' || this.#end === 'left') return { done: true, value: undefined };
      if (this.#end !== 'open') throw 'aborted' in this.#end ? this.#end.aborted : explain(this.#end);
      await this.#more();
    }
  }

  #settle(end: End): void {
    if (this.#end !== 'open') return;
    this.#end = end;
    clearTimeout(this.#timer);
    this.#wakeUp();
  }

  #more(): Promise<void> {
    // Time in which nobody asked for more is not the other side's silence.
    this.#timer.refresh();
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #idle(): void {
    if (!this.#wake) {
      this.#timer.refresh();
      return;
    }
    const words = `nothing came for ${this.#options.idleMs / 1000} s`;
    this.fail({ reason: 'silent', sent: true, status: 200, words });
    this.#options.close();
  }
}
