import { randomFrom } from '../../../random-from.ts';

/** Reproducible random values: the same seed gives the same sequence. */
export interface Chance {
  /** From 0 (inclusive) to 1 (exclusive). */
  draw(): number;
  /** An integer, both bounds inclusive. */
  between(least: number, most: number): number;
  /** True in this share (0 to 1) of the calls. */
  is(share: number): boolean;
  one<T>(of: readonly [T, ...T[]]): T;
  /** One of several; undefined if empty. */
  any<T>(of: readonly T[]): T | undefined;
  uuid(): string;
}

export function chanceOf(seed: number): Chance {
  const draw = randomFrom(seed);
  const between = (least: number, most: number): number => least + Math.floor(draw() * (most - least + 1));
  return {
    draw,
    between,
    is: (share) => draw() < share,
    one: (of) => of[between(0, of.length - 1)] ?? of[0],
    any: (of) => of[between(0, of.length - 1)],
    uuid() {
      const hex = Array.from({ length: 4 }, () =>
        between(0, 2 ** 32 - 1)
          .toString(16)
          .padStart(8, '0'),
      ).join('');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
  };
}
