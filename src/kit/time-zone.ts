/** A local time, encoded as the milliseconds since the epoch at which UTC shows the same time. */
export type WallTime = number;

/** The moments (ms since the epoch) at which a zone shows a local time. */
interface LocalTimeInstants {
  /** In order; two where the clock is put back over the time, none where it is put forward over it. */
  moments: readonly number[];
  /** For a skipped time: as long after the change as the time would have been without it. */
  instead: number | undefined;
}

/** Longer than any zone's offset from UTC and any clock change; no zone changes twice within two days. */
const dayMs = 86_400_000;

/** Cached per zone, since creating one is slow. Zone names are case-insensitive. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** The offset (ms) of a zone from UTC at a moment (ms since the epoch). */
function offsetAt(zone: string, moment: number): number {
  const key = zone.toLowerCase();
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    formats.set(key, format);
  }
  // "3/28/2027, GMT+02:00", or "GMT" alone. `formatToParts` takes ten times as long.
  const [, sign, hours, minutes, seconds] = /GMT([+-])(\d+):(\d+)(?::(\d+))?/.exec(format.format(moment)) ?? [];
  const ahead = Number(hours ?? 0) * 3_600_000 + Number(minutes ?? 0) * 60_000 + Number(seconds ?? 0) * 1000;
  return sign === '-' ? -ahead : ahead;
}

/** What a zone shows at a moment (ms since the epoch). */
export const wallTimeAt = (zone: string, moment: number): WallTime => moment + offsetAt(zone, moment);

/** The moments at which a zone shows a local time. */
export function findInstants(zone: string, time: WallTime): LocalTimeInstants {
  const before = offsetAt(zone, time - dayMs);
  const offsets = new Set([before, offsetAt(zone, time + dayMs)]);
  const moments = [...offsets].map((offset) => time - offset).filter((at) => at + offsetAt(zone, at) === time);
  return { moments: moments.sort((a, b) => a - b), instead: moments.length === 0 ? time - before : undefined };
}

/** When a zone shows a local time: the first or the last time; of one that is skipped, as long after the change. */
export function instantOf(zone: string, time: WallTime, which: 'first' | 'last'): number {
  const { moments, instead } = findInstants(zone, time);
  return (which === 'first' ? moments[0] : moments.at(-1)) ?? instead ?? time;
}

/** A local time before which the zone shows nothing any more after a moment (ms since the epoch). */
export function earliestLocalTimeAfter(zone: string, moment: number): WallTime {
  return moment + Math.min(...[-dayMs, 0, dayMs].map((away) => offsetAt(zone, moment + away)));
}

/** Whether a name is that of a time zone of the IANA database. */
export function isZone(name: string): boolean {
  // Some engines accept offsets such as "+02:00", which are no time zones and have no daylight saving.
  if (!/^[a-z]/i.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
