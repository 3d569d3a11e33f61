/** One way of doing a thing, ready to be measured again and again. */
export interface Contender<Round = number> {
  /** One round; what it resolves with is what is compared. */
  round(): Promise<Round>;
}

export interface RoundsOptions {
  /** Rounds that count. */
  rounds: number;
  /** Rounds before them that do not: code gets compiled, caches get filled. */
  warmups: number;
}

/** Whether everything is measured once and small, to see that it can be measured: its figures mean nothing. */
export const isTiny = process.env['LANDFALL_BENCH_TINY'] === '1';

/** A size of a benchmark, and the size that it has where everything is small. */
export const sized = (full: number, tiny: number): number => (isTiny ? tiny : full);

/**
 * Measures contenders in turns, so that what else the machine does meets all of them alike; each round begins with
 * another one. Returns every contender's rounds.
 */
export async function interleave<Name extends string, Round = number>(
  contenders: Readonly<Record<Name, Contender<Round>>>,
  options: RoundsOptions,
): Promise<Record<Name, Round[]>> {
  const { rounds, warmups } = isTiny ? { rounds: 1, warmups: 0 } : options;
  const measured: Record<string, Round[]> = {};
  const entries = Object.entries<Contender<Round>>(contenders);
  for (const [name] of entries) measured[name] = [];
  for (let round = -warmups; round < rounds; round += 1) {
    for (let turn = 0; turn < entries.length; turn += 1) {
      const [name, contender] = entries[(turn + round + warmups) % entries.length] ?? [];
      if (name === undefined || contender === undefined) continue;
      const value = await contender.round();
      if (round >= 0) measured[name]?.push(value);
    }
  }
  return measured;
}

/** The middle one, or the mean of the two in the middle. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Half the distance between the quartiles, over the median: how noisy the rounds were. */
export const spread = (values: readonly number[]): number =>
  (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / median(values);

/** The value below which this part of all lies, between two of them where it falls there; 0.99 for example. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new Error('there was no round to take the middle of');
  return below + (above - below) * (place - Math.floor(place));
}
