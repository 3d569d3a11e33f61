/** What a clock on the wall shows, in milliseconds since the epoch as if the wall hung in Greenwich. */
export type WallTime = number;

/** The moments (ms since the epoch) at which a wall shows a time. */
export interface Shown {
  /** In their order; two where the clock is put back over the time, none where it is put forward over it. */
  moments: readonly number[];
  /** For a time that is skipped: as long after the change as the time would have been without it. */
  instead: number | undefined;
}

/** Longer than any zone is away from Greenwich, and than its clocks are changed by; no zone changes twice within two. */
const DAY_MS = 86_400_000;

/** One for each zone, since making one is slow: zones are few, and their names mean the same in capitals. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** How far (ms) the clocks of a zone are ahead of Greenwich at a moment (ms since the epoch). */
function offsetAt(zone: string, moment: number): number {
  const key = zone.toLowerCase();
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    formats.set(key, format);
  }
  // "3/28/2027, GMT+02:00", or "GMT" alone; in one text, since taking it apart costs ten times as much.
  const [, sign, hours, minutes, seconds] = /GMT([+-])(\d+):(\d+)(?::(\d+))?/.exec(format.format(moment)) ?? [];
  const ahead = Number(hours ?? 0) * 3_600_000 + Number(minutes ?? 0) * 60_000 + Number(seconds ?? 0) * 1000;
  return sign === '-' ? -ahead : ahead;
}

/** When the walls of a zone show a time. */
export function whenShown(zone: string, time: WallTime): Shown {
  const before = offsetAt(zone, time - DAY_MS);
  const offsets = new Set([before, offsetAt(zone, time + DAY_MS)]);
  const moments = [...offsets].map((offset) => time - offset).filter((at) => at + offsetAt(zone, at) === time);
  return { moments: moments.sort((a, b) => a - b), instead: moments.length === 0 ? time - before : undefined };
}

/** A time before which walls show nothing any more after a moment (ms since the epoch), nor are late with anything. */
export function shownUntil(zone: string, moment: number): WallTime {
  return moment + Math.min(...[-DAY_MS, 0, DAY_MS].map((away) => offsetAt(zone, moment + away)));
}
