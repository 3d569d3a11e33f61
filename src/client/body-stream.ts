import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { SendFailure } from './send-failure.ts';

/** The buffer size (bytes) from which reading from the server is paused. */
const pauseAtBytes = 256 * 1024;

/** How many bytes the reader gets before other work of the process runs. */
const bytesPerTurn = 64 * 1024;

/** The time limit of a stream, and how to close it. */
export interface BodyStreamOptions {
  /** How long (ms) the server may send nothing while the reader waits. */
  idleMs: number;
  /** Closes the HTTP exchange of this stream. */
  close: () => void;
}

/** How the stream ended: complete, closed by its reader, failed, or aborted by the caller with a reason. */
type End = 'open' | 'whole' | 'left' | SendFailure | { aborted: unknown };

/**
 * The bytes of a response with a bounded buffer. Can be read once. A failure is thrown after all bytes before it, as
 * the error that `explain` creates.
 */
export class BodyStream {
  readonly #controller: Dispatcher.DispatchController;
  readonly #options: BodyStreamOptions;
  readonly #timer: NodeJS.Timeout;
  #queue: Uint8Array[] = [];
  #queued = 0;
  #bytesThisTurn = 0;
  #end: End = 'open';
  #wake: (() => void) | undefined;

  constructor(controller: Dispatcher.DispatchController, options: BodyStreamOptions) {
    this.#controller = controller;
    this.#options = options;
    this.#timer = setTimeout(() => this.#idle(), options.idleMs);
  }

  /**
   * The bytes in chunks as received. Returning early closes the connection at once, even during a read: a generator's
   * `return` would wait.
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

  /** Whether the last byte has been received. */
  get isComplete(): boolean {
    return this.#end === 'whole';
  }

  /** Closes a response that will not be read to its end. */
  close(): void {
    const open = this.#end === 'open';
    this.#queue = [];
    this.#settle('left');
    if (open) this.#options.close();
  }

  push(chunk: Uint8Array): void {
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    if (this.#queued >= pauseAtBytes) this.#controller.pause();
    this.#timer.refresh();
    this.#wakeUp();
  }

  end(): void {
    this.#settle('whole');
  }

  fail(failure: SendFailure): void {
    this.#settle(failure);
  }

  /** Aborts: buffered bytes are dropped, and reading throws this reason. */
  abort(reason: unknown): void {
    this.#queue = [];
    this.#settle({ aborted: reason });
  }

  async #next(explain: (failure: SendFailure) => Error): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      if (this.#bytesThisTurn >= bytesPerTurn) {
        this.#bytesThisTurn = 0;
        await nextTurn();
      }
      const chunk = this.#queue.shift();
      if (chunk) {
        this.#queued -= chunk.length;
        this.#bytesThisTurn += chunk.length;
        if (this.#queued < pauseAtBytes) this.#controller.resume();
        return { done: false, value: chunk };
      }
      if (this.#end === 'whole' || this.#end === 'left') return { done: true, value: undefined };
      if (this.#end !== 'open') throw 'aborted' in this.#end ? this.#end.aborted : explain(this.#end);
      await this.#waitForData();
    }
  }

  #settle(end: End): void {
    if (this.#end !== 'open') return;
    this.#end = end;
    clearTimeout(this.#timer);
    this.#wakeUp();
  }

  #waitForData(): Promise<void> {
    // Time without a pending read does not count as silence of the server.
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
    const detail = `no data for ${this.#options.idleMs / 1000} s`;
    this.fail({ reason: 'silent', sent: true, status: 200, detail });
    this.#options.close();
  }
}
