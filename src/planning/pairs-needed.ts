import { isDecided, type Pair } from './compare.ts';

/** How many pairs would decide what is open, if the further ones are like those so far; undefined beyond three times as many. */
export function pairsNeeded(pairs: readonly Pair[], suite: { looks: number; tests: number }): number | undefined {
  // Exact tests of more pairs take seconds.
  return [2, 3].map((times) => Array.from({ length: times }, () => pairs).flat()).find((more) => isDecided(more, suite))
    ?.length;
}
