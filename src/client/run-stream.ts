import type { CallOptions } from '../contract/call-options.ts';
import { fromJson, holdsMore } from '../kit/json-text.ts';
import type { StreamEvent } from '../contract/agent/stream-event.ts';
import { eventStreamType } from '../kit/sse/write-event.ts';
import { readEvents, type TextEvent } from '../kit/sse/parse-events.ts';
import { failureOfSend, unreadable, type AttemptFailure } from './attempt-failure.ts';
import { errorOf, maskFor, open, type Operation } from './call.ts';
import type { Connection } from './connection.ts';
import { header, type HttpStream } from './http.ts';
import { tooManyValues, type ReadResult } from './response-readers.ts';

interface StreamLimits {
  /**
   * How long (ms) the server may send nothing. Heartbeats count as data: the deadline ends a stream of only heartbeats.
   */
  idleMs: number;
  /** The longest event (bytes). */
  maxEventBytes: number;
}

/**
 * Streams the events of a run. Sends the request on the first read. The protocol has no final event, so the stream ends
 * with the response body. It is unreadable if the connection breaks earlier, if it ends within an event, or without any
 * event. A body without a length ends with its connection; a cut between two events then looks like the end.
 */
export function streamEvents(
  link: Connection,
  operation: Operation,
  limits: StreamLimits,
  options: CallOptions | undefined,
): AsyncIterable<StreamEvent> {
  return { [Symbol.asyncIterator]: () => new RunEvents(link, operation, limits, options) };
}

class RunEvents implements AsyncIterator<StreamEvent, undefined> {
  readonly #link: Connection;
  readonly #operation: Operation;
  readonly #limits: StreamLimits;
  readonly #options: CallOptions;
  #events: AsyncIterator<StreamEvent, undefined> | undefined;
  /** A run is started once, even if an iterator that failed is read again. */
  #started = false;
  readonly #closed = new AbortController();

  constructor(link: Connection, operation: Operation, limits: StreamLimits, options: CallOptions = {}) {
    this.#link = link;
    this.#operation = operation;
    this.#limits = limits;
    const signals = [this.#closed.signal, ...(options.signal ? [options.signal] : [])];
    this.#options = { ...options, signal: AbortSignal.any(signals) };
  }

  next(): Promise<IteratorResult<StreamEvent, undefined>> {
    return this.#events ? this.#events.next() : this.#begin();
  }

  async return(): Promise<IteratorResult<StreamEvent, undefined>> {
    this.#started = true;
    if (this.#events) await this.#events.return?.();
    else this.#closed.abort(new Error('the stream was left before it began'));
    return { done: true, value: undefined };
  }

  async #begin(): Promise<IteratorResult<StreamEvent, undefined>> {
    if (this.#started) return { done: true, value: undefined };
    this.#started = true;
    const opening = open(this.#link, this.#operation, this.#limits.idleMs, checkType, this.#options);
    const stream = await opening.catch((error: unknown) => {
      if (!this.#closed.signal.aborted) throw error;
    });
    if (!stream) return { done: true, value: undefined };
    const mask = maskFor(this.#link, this.#operation);
    const bytes = stream.body.bytes((failure) => this.#error(failureOfSend(failure, mask)));
    this.#events = readEvents(bytes, {
      maxEventBytes: this.#limits.maxEventBytes,
      read: (event) => this.#read(event, stream),
      explain: ({ message }) => this.#error(unreadable(stream.status, message, false)),
    })[Symbol.asyncIterator]();
    const first = await this.#events.next();
    if (first.done && stream.body.isComplete) {
      throw this.#error(unreadable(stream.status, 'the stream ended before its first event', false));
    }
    return first;
  }

  #read({ id, event, data }: TextEvent, { status }: HttpStream): StreamEvent {
    const { maxJsonValues } = this.#link;
    if (holdsMore(data, maxJsonValues)) {
      const what = `the event ${JSON.stringify(event.slice(0, 100))}`;
      throw this.#error(unreadable(status, tooManyValues(what, maxJsonValues), false));
    }
    const read = data === '' ? null : fromJson(data);
    if (read === undefined) {
      const detail = `the data of the event ${JSON.stringify(event.slice(0, 100))} is not JSON (${data.length} characters)`;
      throw this.#error(unreadable(status, detail, false));
    }
    return id === undefined ? { event, data: read } : { id, event, data: read };
  }

  #error(failure: AttemptFailure): Error {
    return errorOf(this.#link, this.#operation, failure);
  }
}

function checkType(stream: HttpStream): ReadResult<HttpStream> {
  const type = header(stream.headers, 'content-type') ?? 'no content type';
  if (type.toLowerCase().startsWith(eventStreamType)) return { ok: true, value: stream };
  stream.body.close();
  const detail = `the answer is no stream of events (${type.slice(0, 100)})`;
  return { ok: false, failure: unreadable(stream.status, detail, false) };
}
