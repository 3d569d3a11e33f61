import { randomFrom } from '../random-from.ts';

/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** A whole number from 0 on, and below this one. */
  below: (bound: number) => number;
  pick: <Item>(items: readonly [Item, ...Item[]] | readonly Item[]) => Item;
  bytes: (length: number) => Buffer;
}

export function randomNumbers(seed: number): Random {
  const random = randomFrom(seed);
  const below = (bound: number): number => Math.floor(random() * bound);
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
