/**
 * How long an answer asks to wait (ms), from its `Retry-After` in seconds or as a date; undefined where it does not
 * ask. A date is measured by the `Date` of the same answer where it has one: the other clock may be wrong.
 */
export function readRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  now: number,
): number | undefined {
  const written = retryAfter?.trim();
  if (!written) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(written)) return Math.min(Math.ceil(Number(written) * 1000), Number.MAX_SAFE_INTEGER);
  const until = Date.parse(written);
  if (Number.isNaN(until) || !/[a-z]/i.test(written)) return undefined;
  const theirNow = Date.parse(date ?? '');
  return Math.max(0, until - (Number.isNaN(theirNow) ? now : theirNow));
}
