import type { Dispatcher } from 'undici';
import type { SendFailure } from './send-failure.ts';

/** Above this many bytes waiting to be read the other side is told to pause. */
const HIGH_WATER = 256 * 1024;

export interface BodyStreamOptions {
  /** The longest that nothing at all may come while somebody waits for it (ms). */
  idleMs: number;
  /** Closes the exchange that feeds this stream. */
  close: () => void;
}

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
  #end: 'open' | 'whole' | SendFailure | { aborted: unknown } = 'open';
  #wake: (() => void) | undefined;

  constructor(controller: Dispatcher.DispatchController, options: BodyStreamOptions) {
    this.#controller = controller;
    this.#options = options;
    this.#timer = setTimeout(() => this.#idle(), options.idleMs);
  }

  /** The bytes, in the pieces they came in. Leaving the loop early closes the connection. */
  async *bytes(explain: (failure: SendFailure) => Error): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const chunk = this.#queue.shift();
        if (chunk) {
          this.#queued -= chunk.length;
          if (this.#queued < HIGH_WATER) this.#controller.resume();
          yield chunk;
        } else if (this.#end === 'whole') return;
        else if (this.#end === 'open') await this.#more();
        else throw 'aborted' in this.#end ? this.#end.aborted : explain(this.#end);
      }
    } finally {
      this.#stop();
      if (this.#end === 'open') this.#options.close();
    }
  }

  /** Gives up an answer that nobody will read. */
  close(): void {
    this.#stop();
    this.#options.close();
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

  /** The caller's own end: the bytes that wait are given up, and the loop ends with this reason. */
  abort(reason: unknown): void {
    this.#queue = [];
    this.#settle({ aborted: reason });
  }

  #settle(end: 'whole' | SendFailure | { aborted: unknown }): void {
    if (this.#end !== 'open') return;
    this.#end = end;
    this.#stop();
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

  #stop(): void {
    clearTimeout(this.#timer);
  }
}
