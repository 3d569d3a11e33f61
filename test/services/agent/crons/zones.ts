/** A clock change: the moment (ms since the epoch), and the UTC offsets (ms) around it. */
export interface Change {
  at: number;
  before: number;
  after: number;
}

/** A time zone with clock changes, from the runtime's own calendar. */
export interface ChangingZone {
  zone: string;
  changes: readonly Change[];
}

const WEEK_MS = 7 * 86_400_000;
const MINUTE_MS = 60_000;

/** One zone for each pattern of clock changes between two moments: many zones share one. */
export function changingZones(from: number, to: number): ChangingZone[] {
  const found = new Map<string, ChangingZone>();
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const changes = changesOf(zone, from, to);
    const key = JSON.stringify(changes);
    if (changes.length > 0 && !found.has(key)) found.set(key, { zone, changes });
  }
  return [...found.values()];
}

/** The wall-clock time of a zone at a moment, as if it were UTC. */
export function shown({ changes }: ChangingZone, moment: number): number {
  const last = changes.findLast(({ at }) => at <= moment);
  return moment + (last?.after ?? changes[0]?.before ?? 0);
}

function changesOf(zone: string, from: number, to: number): Change[] {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const offset = (moment: number): number => {
    const [day, month, year, hour, minute, second] = format.format(moment).match(/\d+/g)?.map(Number) ?? [];
    return Date.UTC(year ?? 0, (month ?? 0) - 1, day ?? 0, hour ?? 0, minute ?? 0, second ?? 0) - moment;
  };
  const changes: Change[] = [];
  for (let [week, before] = [from, offset(from)]; week < to; week += WEEK_MS) {
    const after = offset(week + WEEK_MS);
    if (after !== before) changes.push({ at: changeBetween(week, week + WEEK_MS, offset), before, after });
    before = after;
  }
  return changes;
}

function changeBetween(from: number, to: number, offset: (moment: number) => number): number {
  const before = offset(from);
  let [early, late] = [from, to];
  while (late - early > MINUTE_MS) {
    const middle = early + Math.floor((late - early) / MINUTE_MS / 2) * MINUTE_MS;
    if (offset(middle) === before) early = middle;
    else late = middle;
  }
  return late;
}
