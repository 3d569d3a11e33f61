import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';

/** How deep in a value the parts are tried one by one; deeper ones are data. */
const maxDepth = 100;

/**
 * The engine's serializer, but a stored value that it can't revive is read as data: an input that looks like a serialized
 * object, an instance of a class that is gone, a value nested more deeply than the engine accepts. Otherwise nobody could
 * read, repair or fork a thread that has one in its state.
 */
export function tolerantSerializer(serde: SerializerProtocol): SerializerProtocol {
  return {
    dumpsTyped: (value) => serde.dumpsTyped(value),
    async loadsTyped(type, stored) {
      try {
        return await serde.loadsTyped(type, stored);
      } catch (error) {
        if (type !== 'json') throw error;
        const value: unknown = JSON.parse(typeof stored === 'string' ? stored : new TextDecoder().decode(stored));
        return reviveParts(value, serde, 0);
      }
    },
  };
}

/** Revives the parts of a value that the engine can't revive as a whole. */
async function reviveParts(value: unknown, serde: SerializerProtocol, depth: number): Promise<unknown> {
  if (typeof value !== 'object' || value === null || depth === maxDepth) return value;
  const revive = (part: unknown): Promise<unknown> =>
    serde.loadsTyped('json', JSON.stringify(part)).catch(() => reviveParts(part, serde, depth + 1));
  if (Array.isArray(value)) return Promise.all(value.map(revive));
  const parts = await Promise.all(Object.entries(value).map(async ([key, part]) => [key, await revive(part)] as const));
  return Object.fromEntries(parts);
}
