import { isObject } from '../../../kit/json-object.ts';
import { memberOf } from '../members.ts';
import { isMessage } from '../wire.ts';

/** A message chunk: two chunks concatenate. */
interface Piece {
  id?: string;
  concat(other: unknown): unknown;
}

const isPiece = (value: unknown): value is Piece =>
  isMessage(value) && typeof Reflect.get(value, 'concat') === 'function' && value.constructor.name.endsWith('Chunk');

/** The message so far, where the graph's own process has put the pieces together. */
const grownIn = (message: object): unknown => memberOf(message, 'grown');

export type Emit = (event: string, data: unknown) => void;

/**
 * Stream mode `messages`: the messages of the input, then for each new one its metadata once, the accumulated message with
 * every chunk, and the whole message after the state of its step. (The mode `messages-tuple` passes the chunks on as they are.)
 */
export class MessageStream {
  readonly #growing = new Map<string, unknown>();
  readonly #streamed = new Set<string>();
  readonly #whole = new Set<string>();
  /** Messages that arrived whole in the present step. */
  readonly #arrived: { id: string; message: unknown }[] = [];
  readonly #emit: Emit;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** A chunk or a whole message, with the engine's metadata. */
  take(message: unknown, metadata: unknown): void {
    if (!isMessage(message)) return;
    const id = message.id ?? '';
    if (!this.#streamed.has(id)) {
      this.#streamed.add(id);
      this.#emit('messages/metadata', { [id]: { metadata } });
    }
    if (!isPiece(message) && grownIn(message) === undefined) {
      this.#arrived.push({ id, message });
      return;
    }
    const before = this.#growing.get(id);
    const grown = grownIn(message) ?? (isPiece(before) ? before.concat(message) : message);
    this.#growing.set(id, grown);
    this.#emit('messages/partial', [grown]);
  }

  /** A state, once its own event is emitted: its new messages are complete, those of the input first. */
  state(values: unknown): void {
    const messages: unknown = isObject(values) ? values['messages'] : undefined;
    const complete = (Array.isArray(messages) ? messages : []).flatMap((message: unknown) =>
      isMessage(message) && message.id !== undefined && this.#isNew(message.id) ? [message] : [],
    );
    if (complete.length > 0) this.#emit('messages/complete', complete);
    this.end();
  }

  /** The end of a step or of the run. */
  end(): void {
    for (const { id, message } of this.#arrived.splice(0))
      if (id === '' || this.#isNew(id)) this.#emit('messages/complete', [message]);
  }

  /** Notes that a message is complete. @returns whether it was not before. */
  #isNew(id: string): boolean {
    this.#growing.delete(id);
    if (this.#whole.has(id)) return false;
    this.#whole.add(id);
    return true;
  }
}
