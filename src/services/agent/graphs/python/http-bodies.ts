import type { Answer } from './connection.ts';

const gone: Answer = { value: { gone: true } };

/** The body of a request as the worker asks for it, piece by piece, until the client leaves. */
export class RequestBody {
  readonly #body: ReadableStream<Uint8Array> | null;
  readonly #left = Promise.withResolvers<Answer>();
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #isWhole = false;

  constructor(body: ReadableStream<Uint8Array> | null) {
    this.#body = body;
  }

  /** The next piece; after the last one that the client has left, once it has. */
  read(): Promise<Answer> {
    return this.#isWhole ? this.#left.promise : Promise.race([this.#next(), this.#left.promise]);
  }

  /** The client has left, or nobody asks any more. */
  leave(): void {
    this.#left.resolve(gone);
  }

  async #next(): Promise<Answer> {
    this.#reader ??= this.#body?.getReader();
    // A body that breaks off is one whose client has left.
    const piece = await this.#reader?.read().catch(() => null);
    if (piece === null) return gone;
    this.#isWhole = piece?.done !== false;
    return { value: { gone: false, more: !this.#isWhole }, attachments: piece?.value ? [piece.value] : [] };
  }
}

/** The response of the server's own route, which the worker asks for to send it through the agent's middleware. */
export class OwnResponse {
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #isLeft = false;

  /** Takes the response, and tells what comes before its body. */
  begin({ status, headers, body }: Response, unknown: boolean): Answer {
    this.#reader = body?.getReader();
    if (this.#isLeft) this.leave();
    return { value: { status, headers: [...headers], unknown } };
  }

  /** The next piece of the body. */
  async read(): Promise<Answer> {
    const piece = await this.#reader?.read();
    return { value: { more: piece?.done === false }, attachments: piece?.value ? [piece.value] : [] };
  }

  /** Nobody asks for the rest. */
  leave(): void {
    this.#isLeft = true;
    this.#reader?.cancel().catch(() => undefined);
  }
}

/** What an application still says after the beginning of its response. */
export interface RestOfResponse {
  events: AsyncGenerator<Answer, Answer, void>;
  /** The client has left, which the application hears of. */
  leave: () => void;
  /** Takes all that is left: an application may work on after its response, which nobody waits for. */
  drain: () => Promise<void>;
  /** Logs why there is no more. */
  fail: (error: unknown) => void;
}
