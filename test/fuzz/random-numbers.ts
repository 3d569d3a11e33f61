/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** A whole number from 0 on, and below this one. */
  below: (bound: number) => number;
  pick: <Item>(items: readonly [Item, ...Item[]] | readonly Item[]) => Item;
  bytes: (length: number) => Buffer;
}

/** A generator (mulberry32). */
export function randomNumbers(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (bound: number): number => next() % bound;
  return {
    below,
    pick(items) {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
