const minute = 60_000;

/** The beginnings (ms since 1970) of the minutes that began after `from` and by `to`: when a cron of every minute comes. */
export function minutesBetween(from: number, to: number): number[] {
  const first = Math.floor(from / minute) + 1;
  const last = Math.floor(to / minute);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * minute);
}

/** The start of the minute of a time. */
export const minuteOf = (ms: number): number => Math.floor(ms / minute) * minute;
