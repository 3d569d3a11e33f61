import { interval } from './sequential-test.ts';

/** How often each of two agents was right, or took a path. */
export interface TwoCounts {
  live: number;
  liveOf: number;
  changed: number;
  changedOf: number;
}

const logFactorials = [0];
function logFactorial(n: number): number {
  for (let next = logFactorials.length; next <= n; next += 1) {
    logFactorials.push((logFactorials[next - 1] ?? 0) + Math.log(next));
  }
  return logFactorials[n] ?? 0;
}

const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/** Fisher's exact test: the probability of so few in `changed`, or fewer, where both rates are the same. */
export function fewerIn({ live, liveOf, changed, changedOf }: TwoCounts): number {
  const both = live + changed;
  const all = logChoose(liveOf + changedOf, both);
  let sum = 0;
  for (let count = Math.max(0, both - liveOf); count <= changed; count += 1) {
    sum += Math.exp(logChoose(changedOf, count) + logChoose(liveOf, both - count) - all);
  }
  return Math.min(1, sum);
}

/** Both directions: twice the smaller of the two. */
export function differs({ live, liveOf, changed, changedOf }: TwoCounts): number {
  const more = fewerIn({ live: liveOf - live, liveOf, changed: changedOf - changed, changedOf });
  return Math.min(1, 2 * Math.min(more, fewerIn({ live, liveOf, changed, changedOf })));
}

/**
 * Of the intervals that exclude a change, where they are looked at once and where several times: computed exactly, an
 * agent with a drop that is looked for is called no worse in at most 1 %, whatever its pass rate.
 */
const normalQuantile = { once: 2.9, often: 3 };
/** A larger drop is excluded like one of so many points, for the interval is too short between rates near 0 and 1. */
const maxDrop = 0.4;

/** Whether a drop of the rate in `changed` is excluded, at one of so many looks. */
export const excludesDrop = (counts: TwoCounts, drop: number, looks: number): boolean =>
  differenceInterval(counts, looks).low > -Math.min(drop, maxDrop);

/** Newcombe's interval of the difference of two rates, `changed` minus `live`. */
export function differenceInterval(
  { live, liveOf, changed, changedOf }: TwoCounts,
  looks: number,
): { low: number; high: number } {
  const z = looks > 1 ? normalQuantile.often : normalQuantile.once;
  const [former, latter] = [interval(live, liveOf, z), interval(changed, changedOf, z)];
  const [p, q] = [live / liveOf, changed / changedOf];
  return {
    low: q - p - Math.hypot(q - latter.low, former.high - p),
    high: q - p + Math.hypot(latter.high - q, p - former.low),
  };
}

/** Wilcoxon's signed-rank test, exact with ties: the probability of such differences when symmetric around `shift`. */
export function largerThan(differences: readonly number[], shift: number): number {
  const shifted = differences.map((each) => each - shift).filter((each) => each !== 0);
  const sorted = shifted.toSorted((a, b) => Math.abs(a) - Math.abs(b));
  // Twice the rank, which is then whole where ranks are tied.
  const ranks: number[] = [];
  for (let from = 0; from < sorted.length;) {
    let to = from;
    while (to < sorted.length && Math.abs(sorted[to] ?? 0) === Math.abs(sorted[from] ?? 0)) to += 1;
    while (ranks.length < to) ranks.push(from + to + 1);
    from = to;
  }
  const total = ranks.reduce((sum, rank) => sum + rank, 0);
  const seen = ranks.reduce((sum, rank, index) => ((sorted[index] ?? 0) > 0 ? sum + rank : sum), 0);
  const chances = new Float64Array(total + 1);
  chances[0] = 1;
  let most = 0;
  for (const rank of ranks) {
    most += rank;
    for (let sum = most; sum >= 0; sum -= 1) {
      chances[sum] = ((chances[sum] ?? 0) + (sum >= rank ? (chances[sum - rank] ?? 0) : 0)) / 2;
    }
  }
  return Math.min(
    1,
    chances.subarray(seen).reduce((sum, each) => sum + each, 0),
  );
}

/** The middle of the numbers; 0 where there are none. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2;
}

/**
 * The rank test of Mann and Whitney, by its normal approximation with ties: the probability of numbers in `changed`
 * that are so much larger than those in `live`, where both are drawn alike.
 */
export function largerIn(live: readonly number[], changed: readonly number[]): number {
  const [n, m] = [live.length, changed.length];
  const all = [...live, ...changed].toSorted((a, b) => a - b);
  let ties = 0;
  for (let from = 0; from < all.length;) {
    const end = all.findIndex((each, index) => index > from && each !== all[from]);
    const tied = (end === -1 ? all.length : end) - from;
    ties += tied ** 3 - tied;
    from += tied;
  }
  const wins = changed.reduce(
    (sum, latter) => sum + live.reduce((won, former) => won + (latter > former ? 1 : latter === former ? 0.5 : 0), 0),
    0,
  );
  const variance = ((n * m) / 12) * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
  return variance > 0 ? normalTail((wins - (n * m) / 2 - 0.5) / Math.sqrt(variance)) : 1;
}

/** The probability that a normal number is at least `z`: a continued fraction far out, a series within. */
function normalTail(z: number): number {
  if (z < 0) return 1 - normalTail(-z);
  const density = Math.exp(-(z ** 2) / 2) / Math.sqrt(2 * Math.PI);
  if (z > 3) {
    let fraction = z;
    for (let depth = 60; depth > 0; depth -= 1) fraction = z + depth / fraction;
    return density / fraction;
  }
  let [term, sum] = [z, z];
  for (let index = 1; index < 100; index += 1) {
    term *= z ** 2 / (2 * index + 1);
    sum += term;
  }
  return 0.5 - density * sum;
}
