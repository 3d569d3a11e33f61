import { memberOf } from './members.ts';

/**
 * Serializes a value of the engine for the API: a message is a flat object with its `type`, not in the engine's storage
 * format. What JSON can't represent becomes null (undefined) or text (bigint).
 */
export function toWire(value: unknown): string {
  const quick = quickly(value);
  // A recursive walk is slow, and only stored forms of messages have this mark.
  if (quick !== undefined && !quick.includes('"lc":')) return quick;
  return JSON.stringify(value, flatten) ?? 'null';
}

/** The plain JSON; undefined if a value needs the walk. */
function quickly(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function flatten(this: unknown, key: string, value: unknown): unknown {
  const raw = memberOf(this, key);
  if (isMessage(raw)) {
    const { type, data } = raw.toDict();
    return { ...data, type };
  }
  return typeof value === 'bigint' ? String(value) : value;
}

interface Message {
  id?: string;
  toDict(): { type: string; data: object };
}

/** A message of any of the engine's classes. */
export const isMessage = (value: unknown): value is Message => typeof memberOf(value, 'toDict') === 'function';
