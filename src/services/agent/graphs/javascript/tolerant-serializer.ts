import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { messageOf } from '../../../../kit/errors.ts';
import { OtherLanguage, storedTypes } from '../checkpoint-language.ts';

/** What the engine stores in place of a whole value of which it can't write a part, without an error. */
const givenUp = '[unable to serialize, circular reference is too complex to analyze]';

/** How deep in a value the parts are tried one by one; deeper ones are data. */
const maxDepth = 100;
/** How many refused objects within each other are tried; what they hold is data. Each costs a reading of all in it. */
const maxRefused = 5;

/**
 * The engine's serializer, but a stored value that it can't revive is read as data: an input that looks like a serialized
 * object, an instance of a class that is gone, a value nested more deeply than the engine accepts. Otherwise nobody could
 * read, repair or fork a thread that has one in its state.
 *
 * A bigint is stored as text, as on the wire. What the engine can't write otherwise is an error, so that the run that
 * made it fails, instead of losing the value without a word.
 */
export function tolerantSerializer(serde: SerializerProtocol): SerializerProtocol {
  return {
    async dumpsTyped(value) {
      const stored = await serde.dumpsTyped(value);
      if (!isGivenUp(stored, value)) return stored;
      const again = await withBigIntsAsText(() => serde.dumpsTyped(value));
      if (isGivenUp(again, value)) throw new TypeError(`The state can't be stored: ${causeOf(value)}.`);
      return again;
    },
    async loadsTyped(type, stored) {
      if (type === storedTypes.python) throw new OtherLanguage('python');
      try {
        return await serde.loadsTyped(type, stored);
      } catch (error) {
        if (type !== 'json') throw error;
        const value: unknown = JSON.parse(typeof stored === 'string' ? stored : new TextDecoder().decode(stored));
        return reviveParts(value, serde);
      }
    },
  };
}

/**
 * Revives the parts of a value that the engine can't revive as a whole. The engine gets only objects that look serialized:
 * the others are data, and each of them would be read again with everything in it.
 */
async function reviveParts(value: unknown, serde: SerializerProtocol, depth = 0, refused = 0): Promise<unknown> {
  if (typeof value !== 'object' || value === null || depth === maxDepth || refused === maxRefused) return value;
  let refusals = refused;
  if (Object.hasOwn(value, 'lc')) {
    try {
      return await serde.loadsTyped('json', JSON.stringify(value));
    } catch {
      refusals += 1;
    }
  }
  const revive = (part: unknown): Promise<unknown> => reviveParts(part, serde, depth + 1, refusals);
  if (Array.isArray(value)) return Promise.all(value.map(revive));
  const parts = await Promise.all(Object.entries(value).map(async ([key, part]) => [key, await revive(part)] as const));
  return Object.fromEntries(parts);
}

const isGivenUp = ([type, stored]: [string, Uint8Array], value: unknown): boolean =>
  // The marker and its quotation marks: no other text of this length is decoded.
  type === 'json' &&
  stored.length === givenUp.length + 2 &&
  value !== givenUp &&
  new TextDecoder().decode(stored) === JSON.stringify(givenUp);

/** `write`, which has to be done with its bigints when it returns, while JSON takes them. */
function withBigIntsAsText<T>(write: () => T): T {
  const defined = Reflect.defineProperty(BigInt.prototype, 'toJSON', {
    configurable: true,
    value(this: bigint) {
      return String(this);
    },
  });
  try {
    return write();
  } finally {
    if (defined) Reflect.deleteProperty(BigInt.prototype, 'toJSON');
  }
}

/** Why JSON does not take a value. */
function causeOf(value: unknown): string {
  try {
    JSON.stringify(value);
  } catch (error) {
    return messageOf(error);
  }
  return 'a part of it has no JSON';
}
