import { createParser } from 'eventsource-parser';

/** One server-sent event as text. Comments and events without data are no events, as the format says. */
export interface TextEvent {
  /** There where the event itself names one. */
  id?: string;
  /** `message` where the event names none. */
  event: string;
  data: string;
}

/**
 * Why a stream of events could not be read to its end:
 * - `cut`: it ended inside an event
 * - `too-large`: an event, or a line of one, is longer than was allowed
 */
export class EventStreamError extends Error {
  readonly reason: 'cut' | 'too-large';

  constructor(reason: 'cut' | 'too-large', message: string) {
    super(message);
    this.name = 'EventStreamError';
    this.reason = reason;
  }
}

/** How much may be held. */
export interface ParseOptions {
  /** The most that is held of one event (characters, of which no byte makes more than one). */
  maxEventBytes: number;
}

/**
 * Bytes to events, whatever the pieces the bytes come in: a cut inside a character, a line or between CR and LF changes
 * nothing. An event is given out once it is whole; what follows the last whole one is an `EventStreamError`, given
 * after all events before it. Leaving the loop early ends the source as well; an error of the source is passed on.
 */
export function parseEvents(chunks: AsyncIterable<Uint8Array>, options: ParseOptions): AsyncIterable<TextEvent> {
  return readEvents(chunks, { ...options, read: (event) => event, explain: (problem) => problem });
}

/** What becomes of each event, and of a stream that could not be read to its end. */
export interface EventReading<T> extends ParseOptions {
  /** Called as an event is taken; what it throws ends the reading. */
  read: (event: TextEvent) => T;
  explain: (problem: EventStreamError) => Error;
}

/** `parseEvents` with a meaning: one step from bytes to values, where a second iterator would cost as much again. */
export function readEvents<T>(chunks: AsyncIterable<Uint8Array>, reading: EventReading<T>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new EventIterator(chunks[Symbol.asyncIterator](), reading) };
}

/** Written by hand because an async generator costs more for each event than parsing it does. */
class EventIterator<T> implements AsyncIterator<T, undefined> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #reading: EventReading<T>;
  readonly #text: IncrementalText;
  #ready: TextEvent[] = [];
  #next = 0;
  #done = false;
  #left = false;

  constructor(source: AsyncIterator<Uint8Array>, reading: EventReading<T>) {
    this.#source = source;
    this.#reading = reading;
    this.#text = new IncrementalText(reading.maxEventBytes, (event) => this.#ready.push(event));
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const event = this.#ready[this.#next];
    return event === undefined ? this.#refill() : this.#take(event);
  }

  #take(event: TextEvent): Promise<IteratorResult<T, undefined>> {
    this.#next += 1;
    try {
      return Promise.resolve({ done: false, value: this.#reading.read(event) });
    } catch (error) {
      return this.return().then(() => Promise.reject(error));
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#done = true;
    this.#left = true;
    this.#ready = [];
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  async #refill(): Promise<IteratorResult<T, undefined>> {
    this.#ready = [];
    this.#next = 0;
    while (!this.#done && !this.#text.problem) {
      const { done, value } = await this.#source.next();
      // A caller that raced this against a deadline may have left meanwhile: a cut event is then no problem.
      if (this.#left) break;
      if (done) {
        this.#done = true;
        this.#text.end();
      } else {
        this.#text.add(value);
      }
      const first = this.#ready[0];
      if (first) return this.#take(first);
    }
    const { problem } = this.#text;
    if (!problem || this.#left) return { done: true, value: undefined };
    if (!this.#done) await this.return();
    throw this.#reading.explain(problem);
  }
}

const lineEnds = new Set(['\n', '\r']);
const endProbe = 'end of stream';

/** Feeds the parser, and finds out at the end whether something was left over. */
class IncrementalText {
  problem: EventStreamError | undefined;
  readonly #decoder = new TextDecoder();
  readonly #parser;
  #lastCharacter = '\n';
  #ending = false;

  constructor(maxEventBytes: number, emit: (event: TextEvent) => void) {
    this.#parser = createParser({
      maxBufferSize: maxEventBytes,
      onEvent: ({ id, event, data }) => {
        if (this.#ending) {
          if (data !== endProbe || event !== undefined || id !== undefined) this.#cut();
        } else if (id === undefined) emit({ event: event ?? 'message', data });
        else emit({ id, event: event ?? 'message', data });
      },
      onError: ({ type }) => {
        if (type !== 'max-buffer-size-exceeded') return;
        this.problem = new EventStreamError('too-large', `an event is longer than ${maxEventBytes} bytes`);
      },
    });
  }

  add(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#lastCharacter = text.at(-1) ?? this.#lastCharacter;
    this.#parser.feed(text);
  }

  end(): void {
    if (this.#decoder.decode() !== '' || !lineEnds.has(this.#lastCharacter)) {
      this.#cut();
      return;
    }
    // The parser does not expose its buffer. A probe event does: it is unchanged only where no
    // line of another one is waiting for the rest of its event.
    this.#ending = true;
    this.#parser.feed(`data: ${endProbe}\n\n`);
  }

  #cut(): void {
    this.problem = new EventStreamError('cut', 'the stream ended inside an event');
  }
}
