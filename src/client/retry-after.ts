/**
 * The delay (ms) of a `Retry-After` header, in seconds or as a date; undefined if absent. A date is relative to the
 * response's `Date` header if present: the clocks may differ.
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
