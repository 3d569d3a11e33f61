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
 * whole message once it is in the state. (The mode `messages-tuple` passes the chunks on as they are.)
 */
export class MessageStream {
  readonly #growing = new Map<string, unknown>();
  readonly #streamed = new Set<string>();
  readonly #whole = new Set<string>();
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
    if (!isPiece(message)) return this.#emitWhole(id, message);
    const before = this.#growing.get(id);
    const grown = isPiece(before) ? before.concat(message) : message;
    this.#growing.set(id, grown);
    this.#emit('messages/partial', [grown]);
  }

  /** The state after a step: streamed messages are complete once they are in it. */
  state(values: unknown): void {
    const messages = isObject(values) ? values['messages'] : undefined;
    for (const message of Array.isArray(messages) ? messages : []) {
      if (isMessage(message) && message.id !== undefined && this.#growing.has(message.id))
        this.#emitWhole(message.id, message);
    }
  }

  #emitWhole(id: string, message: unknown): void {
    this.#growing.delete(id);
    if (id !== '' && this.#whole.has(id)) return;
    this.#whole.add(id);
    this.#emit('messages/complete', [message]);
  }
}
