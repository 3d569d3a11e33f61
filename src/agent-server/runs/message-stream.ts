import { isObject } from '../../contract/json-object.ts';
import { isMessage } from '../wire.ts';

/** A message chunk: two chunks concatenate. */
interface Piece {
  id?: string;
  concat(other: unknown): unknown;
}

const isPiece = (value: unknown): value is Piece =>
  isMessage(value) && typeof Reflect.get(value, 'concat') === 'function' && value.constructor.name.endsWith('Chunk');

export type Emit = (event: string, data: unknown) => void;

/**
 * Stream mode `messages`: for each message its metadata once, then the accumulated message with every chunk, and the
 * whole message after the state of its step. (The mode `messages-tuple` passes the chunks on as they are.)
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
    if (!isPiece(message)) {
      this.#arrived.push({ id, message });
      return;
    }
    const before = this.#growing.get(id);
    const grown = isPiece(before) ? before.concat(message) : message;
    this.#growing.set(id, grown);
    this.#emit('messages/partial', [grown]);
  }

  /** The state after a step, once its own event is emitted: streamed messages are complete once they are in it. */
  state(values: unknown): void {
    this.end();
    const messages = isObject(values) ? values['messages'] : undefined;
    for (const message of Array.isArray(messages) ? messages : []) {
      if (isMessage(message) && message.id !== undefined && this.#growing.has(message.id))
        this.#emitWhole(message.id, message);
    }
  }

  /** The end of a step or of the run. */
  end(): void {
    for (const { id, message } of this.#arrived.splice(0)) this.#emitWhole(id, message);
  }

  #emitWhole(id: string, message: unknown): void {
    this.#growing.delete(id);
    if (id !== '' && this.#whole.has(id)) return;
    this.#whole.add(id);
    this.#emit('messages/complete', [message]);
  }
}
