import type { Duplex } from 'node:stream';
import * as z from 'zod';
import { parseExactly } from '../../../../kit/exact-number.ts';
import { encodeFrame, FrameReader, ProtocolError, type Frame } from './frames.ts';
import { headers, type Header, type Hello, type Sign } from './headers.ts';
import { WorkerError } from './worker-error.ts';

/** A value with its attachments. */
export interface Answer {
  value?: unknown;
  attachments?: readonly Uint8Array[];
}

/** A request of the worker, made while it answers one of this server. */
export interface Asked {
  op: string;
  args: unknown;
  attachments: readonly Uint8Array[];
}

/** The JSON in an attachment of an answer; null if there is none. */
export function jsonOf({ attachments = [] }: Answer, place = 0): unknown {
  const json = attachments[place];
  return json === undefined ? null : parseExactly(new TextDecoder().decode(json));
}

/** The worker is gone, or its connection. */
export class WorkerGone extends Error {
  override name = 'WorkerGone';
}

/** Events of a stream that a worker may send before it is asked for more. */
const firstCredit = 256;
/** After so many events of a stream that were taken the worker may send as many more. */
const creditAtOnce = 128;
/** Bytes for a worker that it does not read: meanwhile nothing of it is read either. */
const maxUnread = 64 * 2 ** 20;
/** In place of the number of a request: what the worker asks for none. */
const noRequest = 0;
/** The most requests of a worker that are answered at once. */
const maxAsked = 65_536;

interface OpenAsk {
  answer: AskOptions['answer'];
  events: Answer[];
  /** How many more the worker may send. */
  credit: number;
  /** Its end: the last answer, or why there is none. */
  end: { answer: Answer } | { failure: unknown } | undefined;
  /** Wakes who waits for the next event or the end. */
  wake: () => void;
  /** What the worker told meanwhile, and is carried out. */
  told: Set<Promise<void>>;
  /** Ends the request with a failure of this server. */
  fail: (failure: unknown) => void;
}

export interface ConnectionHandlers {
  hello?: (hello: Hello) => void;
  sign?: (sign: Sign) => void;
  /** Answers what the worker asks for none of the requests of this server. */
  answer?: (asked: Asked) => Promise<Answer>;
  /** How long a request may go on after it was cancelled: waits, unless the signal aborts before. */
  grace?: (over: AbortSignal) => Promise<void>;
  /** A request goes on after that, and is given up. */
  overdue?: () => void;
  /** The connection is closed: finds out why. */
  closed?: () => Promise<Error>;
  /** Called once, when nothing more will be answered. */
  ended?: (why: Error) => void;
}

/** Requests in both directions over one socket to a worker (docs/design/python-worker.md). */
export class Connection {
  readonly #socket: Duplex;
  readonly #handlers: ConnectionHandlers;
  readonly #asks = new Map<number, OpenAsk>();
  #lastId = 0;
  #asked = 0;
  #ended: Error | undefined;

  constructor(socket: Duplex, handlers: ConnectionHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    const frames = new FrameReader();
    socket.on('data', (piece: Buffer) => {
      try {
        for (const frame of frames.push(piece)) this.#take(frame);
      } catch (error) {
        this.end(error instanceof Error ? error : new ProtocolError(String(error)));
      }
    });
    // Also one that is only half closed: nothing more will be answered.
    for (const event of ['error', 'end', 'close']) socket.on(event, () => void this.#closed());
  }

  /** Asks the worker for one answer. */
  async ask(op: string, args: object, options: AskOptions = {}): Promise<Answer> {
    const answers = this.stream(op, args, options);
    for (;;) {
      const { done, value } = await answers.next();
      if (done) return value;
    }
  }

  /** Asks the worker for a stream of events, whose end has an answer as well. Leaving it cancels the request. */
  async *stream(
    op: string,
    args: object,
    { answer, signal, attachments = [] }: AskOptions = {},
  ): AsyncGenerator<Answer, Answer, void> {
    if (this.#ended) throw gone(this.#ended);
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    let { promise: woken, resolve: wake } = Promise.withResolvers<void>();
    const fail = (failure: unknown): void => {
      if (open.end === undefined) cancel();
      open.end = { failure };
      open.wake();
    };
    const open: OpenAsk = {
      answer,
      events: [],
      credit: firstCredit,
      end: undefined,
      wake: () => wake(),
      told: new Set(),
      fail,
    };
    this.#asks.set(id, open);
    let isCancelled = false;
    // Once: a second one would interrupt what the agent does after the first.
    const cancel = (): void => {
      if (!isCancelled) this.#send({ header: { kind: 'cancel', id }, attachments: [] });
      isCancelled = true;
    };
    const over = new AbortController();
    const giveUp = (): void => {
      if (open.end) return;
      open.end = { failure: signal?.reason };
      open.wake();
      this.#handlers.overdue?.();
    };
    const cancelInTime = (): void => {
      cancel();
      this.#handlers.grace?.(over.signal).then(giveUp, () => undefined);
    };
    signal?.addEventListener('abort', cancelInTime, { once: true });
    let taken = 0;
    try {
      this.#send({ header: { kind: 'ask', id, op, args }, attachments });
      for (;;) {
        const event = open.events.shift();
        if (event) {
          yield event;
          taken += 1;
          if (taken % creditAtOnce !== 0) continue;
          open.credit += creditAtOnce;
          this.#send(more(id));
        } else if (open.end) {
          if ('answer' in open.end) await Promise.all(open.told);
          if ('failure' in open.end) throw open.end.failure;
          return open.end.answer;
        } else {
          await woken;
          ({ promise: woken, resolve: wake } = Promise.withResolvers<void>());
        }
      }
    } finally {
      over.abort();
      signal?.removeEventListener('abort', cancelInTime);
      this.#asks.delete(id);
      if (!open.end) cancel();
    }
  }

  /** Ends the connection; what is open fails. */
  end(why: Error): void {
    if (this.#ended) return;
    this.#ended = why;
    this.#socket.destroy();
    this.#handlers.ended?.(why);
    for (const open of this.#asks.values()) {
      open.end ??= { failure: gone(why) };
      open.wake();
    }
  }

  async #closed(): Promise<void> {
    this.end((await this.#handlers.closed?.()) ?? new WorkerGone('The worker has ended the connection.'));
  }

  #send(frame: Frame): void {
    if (this.#ended) return;
    const socket = this.#socket;
    // Frames that are sent in one turn of the event loop are one write, and wake the worker once.
    if (socket.writableCorked === 0) {
      socket.cork();
      setImmediate(() => socket.uncork());
    }
    socket.write(encodeFrame(frame));
    if (socket.writableLength <= maxUnread || socket.isPaused()) return;
    socket.pause().once('drain', () => socket.resume());
  }

  #take({ header: given, attachments }: Frame): void {
    const read = headers.safeParse(given);
    if (!read.success)
      throw new ProtocolError(`A frame has a header that is not known: ${z.prettifyError(read.error)}`);
    const header = read.data;
    if (header.kind === 'hello') return this.#handlers.hello?.(header);
    if (header.kind === 'beat' || header.kind === 'blocked' || header.kind === 'log')
      return this.#handlers.sign?.(header);
    if (header.kind === 'ask' || header.kind === 'tell') {
      if (this.#asked >= maxAsked) throw new ProtocolError(`More than ${maxAsked} requests are open.`);
      return header.kind === 'ask' ? void this.#answer(header, attachments) : this.#carryOut(header, attachments);
    }
    const open = this.#asks.get(header.id);
    if (!open || open.end) return;
    if (header.kind === 'event') {
      open.credit -= 1;
      if (open.credit < 0) throw new ProtocolError('A stream has more events than were asked for.');
      open.events.push({ value: header.value, attachments });
    } else
      open.end =
        header.kind === 'done'
          ? { answer: { value: header.value, attachments } }
          : { failure: new WorkerError(header.error) };
    open.wake();
  }

  /** What a request has been told fails the request; it is dropped if that has ended. */
  #carryOut({ of, op, args }: Extract<Header, { kind: 'tell' }>, attachments: readonly Uint8Array[]): void {
    const open = this.#asks.get(of);
    if (!open?.answer || open.end) return;
    this.#asked += 1;
    const told = open.answer({ op, args, attachments }).then(
      () => undefined,
      (failure: unknown) => open.fail(failure),
    );
    open.told.add(told);
    void told.finally(() => {
      this.#asked -= 1;
      open.told.delete(told);
    });
  }

  async #answer({ id, of, op, args }: Extract<Header, { kind: 'ask' }>, given: readonly Uint8Array[]): Promise<void> {
    this.#asked += 1;
    try {
      const answer = of === noRequest ? this.#handlers.answer : this.#asks.get(of)?.answer;
      if (!answer) throw new Error('The request that this belongs to has ended.');
      const { value = null, attachments = [] } = await answer({ op, args, attachments: given });
      this.#send({ header: { kind: 'done', id, value }, attachments });
    } catch (thrown) {
      // Also an answer that no frame can hold.
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      const { name: type, message } = error;
      this.#send({ header: { kind: 'failed', id, error: { type, message } }, attachments: [] });
    } finally {
      this.#asked -= 1;
    }
  }
}

interface AskOptions {
  attachments?: readonly Uint8Array[] | undefined;
  /** Answers what the worker asks while it answers this. */
  answer?: (asked: Asked) => Promise<Answer>;
  signal?: AbortSignal | undefined;
}

const more = (id: number): Frame => ({ header: { kind: 'more', id, events: creditAtOnce }, attachments: [] });

const gone = (why: Error): WorkerGone => new WorkerGone(why.message, why instanceof WorkerGone ? {} : { cause: why });
