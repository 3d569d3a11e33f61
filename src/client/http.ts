import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { codeOf } from '../kit/errors.ts';
import { BodyStream } from './body-stream.ts';
import { failureOf, type SendFailure } from './send-failure.ts';

/** One HTTP request with its complete path and headers. */
export interface HttpRequest {
  origin: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Includes the prefix of the base URL and the query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  /** A stream is read once; the headers must have its length. */
  body?: string | Readable | undefined;
}

/** The limits of an exchange, and its abort signal. */
export interface SendLimits {
  /** The timeout (ms) until the last byte of the response. */
  timeoutMs: number;
  /** The largest response body (bytes). */
  maxBodyBytes: number;
  signal?: AbortSignal | undefined;
}

/** A complete response with any status. */
export interface HttpReply {
  kind: 'reply';
  status: number;
  headers: ReplyHeaders;
  body: Buffer;
}

/** A success whose body is streamed. */
export interface HttpStream extends Pick<HttpReply, 'status' | 'headers'> {
  kind: 'stream';
  body: BodyStream;
}

/** The outcome of one request. */
export type SendResult = HttpReply | { kind: 'failed'; failure: SendFailure };
/** Headers by lower-case names. */
export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Sends one request and reads the whole response. Any status is a reply; only a missing response is a failure. Does not
 * follow redirects. Rejects with the reason of the caller's signal, and for programming errors.
 */
export function send(dispatcher: Dispatcher, request: HttpRequest, limits: SendLimits): Promise<SendResult> {
  return new Promise((resolve, reject) => new Exchange(limits, resolve, reject).start(dispatcher, request));
}

/**
 * Sends one request; a success is streamed once its headers have arrived, any other response is read completely.
 * `timeoutMs` is the time until the last byte, `idleMs` the longest silence before the headers and between bytes.
 */
export function openStream(
  dispatcher: Dispatcher,
  request: HttpRequest,
  limits: SendLimits & { idleMs: number },
): Promise<SendResult | HttpStream> {
  const startedAt = performance.now();
  const headLimits = { ...limits, timeoutMs: Math.min(limits.timeoutMs, limits.idleMs) };
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(headLimits, resolve, reject, (status, headers, controller) => {
      if (status < 200 || status > 299) return undefined;
      exchange.extend(limits.timeoutMs, startedAt);
      const body = new BodyStream(controller, { idleMs: limits.idleMs, close: () => exchange.close() });
      resolve({ kind: 'stream', status, headers, body });
      return body;
    });
    exchange.start(dispatcher, request);
  });
}

/** The first value of a header. */
export function header(headers: ReplyHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Decides by the headers whether to stream the body of a response. */
type Divert = (
  status: number,
  headers: ReplyHeaders,
  controller: Dispatcher.DispatchController,
) => BodyStream | undefined;

/** The longest timer of Node; a later deadline can't expire during one request. */
const maxTimerMs = 2 ** 31 - 1;
const timerMs = (ms: number): number => Math.min(maxTimerMs, Math.max(0, ms));

/** undici's error codes for a closed client. */
const closedCodes = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);
/** undici's error code for an invalid request. */
const invalidCode = 'UND_ERR_INVALID_ARG';

/** One request and its response. Uses a real timer for the deadline: tests can't fake the network's time. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #limits: SendLimits;
  readonly #resolve: (sent: SendResult) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #divert: Divert | undefined;
  #timeoutMs: number;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #isFinished = false;
  #status: number | undefined;
  #headers: ReplyHeaders = {};
  #stream: BodyStream | undefined;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(
    limits: SendLimits,
    resolve: (sent: SendResult) => void,
    reject: (reason: unknown) => void,
    divert?: Divert,
  ) {
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#divert = divert;
    this.#timeoutMs = limits.timeoutMs;
    this.#timer = setTimeout(this.#expire, timerMs(limits.timeoutMs));
  }

  start(dispatcher: Dispatcher, { origin, method, path, headers, body = '' }: HttpRequest): void {
    this.#limits.signal?.addEventListener('abort', this.#abort, { once: true });
    // The deadline covers headers and body, so undici's timers are off.
    const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 };
    dispatcher.dispatch({ origin, method, path, headers, body: body === '' ? null : body, ...noTimeouts }, this);
  }

  /** Moves the deadline to `timeoutMs` after `began` (by `performance.now`). */
  extend(timeoutMs: number, startedAt: number): void {
    clearTimeout(this.#timer);
    this.#timeoutMs = timeoutMs;
    this.#timer = setTimeout(this.#expire, timerMs(startedAt + timeoutMs - performance.now()));
  }

  /** Closes the exchange, because the rest is not needed. */
  close(): void {
    this.#finish();
    this.#controller?.abort(new Error('closed by the reader'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The request may reach the server from here on. After the deadline it is never written.
    this.#controller = controller;
    if (this.#isFinished) controller.abort(new Error('the deadline has passed'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ReplyHeaders): void {
    if (this.#isFinished || status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#stream = this.#divert?.(status, headers, controller);
    if (!this.#stream && Number(header(headers, 'content-length') ?? 0) > this.#limits.maxBodyBytes) this.#tooLarge();
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isFinished) return;
    if (this.#stream) return this.#stream.push(chunk);
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > this.#limits.maxBodyBytes) this.#tooLarge();
  }

  onResponseEnd(): void {
    if (this.#isFinished) return;
    this.#finish();
    if (this.#stream) return this.#stream.end();
    const body = Buffer.concat(this.#chunks, this.#length);
    this.#resolve({ kind: 'reply', status: this.#status ?? 0, headers: this.#headers, body });
  }

  onResponseError(controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isFinished) return;
    const code = codeOf(error);
    if (closedCodes.has(code)) return this.#endWith(new Error('the client was closed before the answer was there'));
    if (code === invalidCode && !this.#controller) return this.#endWith(error);
    this.#fail(failureOf(error, this.#progress()));
    // undici reports a proxy's demand for a password as an error while the response continues.
    controller?.abort(error);
  }

  #progress(): { sent: boolean; status: number | undefined } {
    return { sent: this.#controller !== undefined, status: this.#status };
  }

  #tooLarge(): void {
    const detail = `the answer is longer than ${this.#limits.maxBodyBytes} bytes`;
    this.#fail({ reason: 'too-large', ...this.#progress(), detail });
    this.#controller?.abort(new Error(detail));
  }

  #expire = (): void => {
    const { sent, status } = this.#progress();
    const state = status === undefined ? (sent ? 'no response' : 'no connection') : 'the response was incomplete';
    const detail = `${state} within ${this.#timeoutMs / 1000} s`;
    this.#fail({ reason: 'timeout', sent, status, detail });
    this.#controller?.abort(new Error(detail));
  };

  #abort = (): void => {
    this.#endWith(this.#limits.signal?.reason);
    this.#controller?.abort(new Error('aborted by the caller'));
  };

  /** Ends with an error that is not a failure of the service. */
  #endWith(reason: unknown): void {
    this.#finish();
    if (this.#stream) this.#stream.abort(reason);
    else this.#reject(reason);
  }

  #fail(failure: SendFailure): void {
    this.#finish();
    if (this.#stream) this.#stream.fail(failure);
    else this.#resolve({ kind: 'failed', failure });
  }

  #finish(): void {
    this.#isFinished = true;
    clearTimeout(this.#timer);
    this.#limits.signal?.removeEventListener('abort', this.#abort);
  }
}
