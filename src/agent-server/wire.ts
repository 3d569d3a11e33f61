/**
 * A value of the engine as JSON, the way the API shows it: a message is a flat object with its `type`, not the form in
 * which the engine stores it. What JSON can't hold becomes null (undefined) or text (bigint).
 */
export function toWire(value: unknown): string {
  const quick = quickly(value);
  // A walk over every value is slow, and only stored forms of messages carry this mark.
  if (quick !== undefined && !quick.includes('"lc":')) return quick;
  return JSON.stringify(value, flatten) ?? 'null';
}

/** The plain JSON; undefined where a value needs the walk. */
function quickly(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function flatten(this: unknown, key: string, value: unknown): unknown {
  const raw: unknown = typeof this === 'object' && this !== null ? Reflect.get(this, key) : value;
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

/** A message of the engine, of whichever class. */
export const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'toDict') === 'function';
