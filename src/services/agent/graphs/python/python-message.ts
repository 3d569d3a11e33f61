import * as z from 'zod';
import { isObject } from '../../../../kit/json-object.ts';

const messageShape = z.looseObject({ type: z.string(), content: z.unknown() });

/** A message of a graph in Python, which is plain JSON, with the methods by which this server recognizes messages. */
class PythonMessage {
  constructor(json: Record<string, unknown>) {
    Object.assign(this, json);
  }

  toDict(): { type: string; data: object } {
    const { type, ...data } = messageShape.parse(this);
    return { type, data };
  }
}

/** A piece of a message, with the message so far: the worker puts the pieces together, since it has their classes. */
export class PythonMessageChunk extends PythonMessage {
  readonly #grown: unknown;

  constructor(json: Record<string, unknown>, grown: unknown) {
    super(json);
    this.#grown = grown;
  }

  get grown(): unknown {
    return this.#grown;
  }
}

/** The values of a state, with its messages as such. */
export function withMessages(values: unknown): unknown {
  const read = z.looseObject({ messages: z.array(z.unknown()) }).safeParse(values);
  if (!read.success) return values;
  return { ...Object(values), messages: read.data.messages.map(asMessage) };
}

/** A message, if the value is one. */
export const asMessage = (value: unknown): unknown =>
  isObject(value) && messageShape.safeParse(value).success ? new PythonMessage(value) : value;
