/** The ratio of a bucket's upper bound to its lower one. */
const growth = 1.2;
/** The largest relative error of a percentile, between 1 ms and a day. */
export const relativeError = (growth - 1) / (growth + 1);
/** The bucket for all durations beyond 23 hours. */
const lastBucket = 100;

/**
 * Counts of durations in logarithmic buckets, without empty ones at the end. Bucket 0 counts durations up to 1 ms, bucket
 * `i` those above `growth ** (i - 1)` and up to `growth ** i`. Histograms are merged by adding their counts.
 */
export type Histogram = number[];

const bucketOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(lastBucket, Math.ceil(Math.log(ms) / Math.log(growth)));

/** Counts a duration. */
export function observe(histogram: Histogram, ms: number): void {
  const bucket = bucketOf(ms);
  while (histogram.length <= bucket) histogram.push(0);
  histogram[bucket] = (histogram[bucket] ?? 0) + 1;
}

/** A percentile (ms), within `relativeError`; null without durations. @param share 0.95 for the 95th. */
export function percentile(histogram: readonly number[] | null, share: number): number | null {
  const counts = histogram ?? [];
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(share * total));
  let seen = 0;
  const bucket = counts.findIndex((count) => (seen += count) >= rank);
  // The value whose relative distance to both bounds is the same.
  return Number(((2 * growth ** bucket) / (growth + 1)).toPrecision(4));
}
