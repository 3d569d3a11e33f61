import type { Clock } from '../../src/clock.ts';

/**
 * Shares one read among callers within `freshMs` of one another, and those who arrive while it runs. A failed read is
 * not shared with later callers.
 *
 * @returns a reader; a read that started before `notBefore` (ms since the epoch) is not shared.
 */
export function sharedReading<Of, Value>(
  clock: Pick<Clock, 'now'>,
  freshMs: number,
  keyOf: (of: Of) => number | string,
  read: (of: Of) => Promise<Value>,
): (of: Of, notBefore?: number) => Promise<Value> {
  const shared = new Map<number | string, { since: number; reading: Promise<Value> }>();
  const isFresh = ({ since }: { since: number }, now: number): boolean => now >= since && now - since < freshMs;
  return (of, notBefore = 0) => {
    const [key, now] = [keyOf(of), clock.now()];
    for (const [each, kept] of shared) if (!isFresh(kept, now)) shared.delete(each);
    const known = shared.get(key);
    if (known && known.since >= notBefore) return known.reading;
    const mine = { since: now, reading: read(of) };
    shared.set(key, mine);
    mine.reading.catch(() => {
      if (shared.get(key) === mine) shared.delete(key);
    });
    return mine.reading;
  };
}
