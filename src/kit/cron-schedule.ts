import { CronExpressionParser, type CronExpression } from 'cron-parser';
import { messageOf } from './errors.ts';
import { withoutFullStop } from './plain-text.ts';
import { earliestLocalTimeAfter, findInstants, isZone, type WallTime } from './time-zone.ts';

export interface Schedule {
  /** Five fields, or an alias such as `@daily`. */
  schedule: string;
  /** An IANA time zone; null is UTC. */
  timezone: string | null;
}

export interface ScheduleProblem {
  field: 'schedule' | 'timezone';
  reason: string;
}

const named: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** The syntax of a field. The library accepts more, such as `H`, which differs at each evaluation. */
const cronField = /^(?:[\d*/,?\-#a-gi-z]|thu)+$/i;

const advice =
  'Write five fields (minute, hour, day of the month, month, day of the week), such as "0 9 * * 1-5", or one of ' +
  `${Object.keys(named).join(', ')}.`;

/** What is wrong with a requested schedule; undefined if it is valid. */
export function scheduleProblem({ schedule, timezone }: Schedule): ScheduleProblem | undefined {
  if (timezone !== null && !isZone(timezone))
    return { field: 'timezone', reason: `names no time zone. Write one as the IANA database does: "Europe/Berlin".` };
  const problem = (reason: string): ScheduleProblem => ({ field: 'schedule', reason: `${reason}. ${advice}` });
  const fields = fieldsOf(schedule);
  if (fields === undefined) return problem('names no schedule that is known');
  if (fields.length === 6) return problem('has six fields; runs come at whole minutes, without a field for seconds');
  if (fields.length !== 5) return problem(`has ${fields.length} fields`);
  if (!fields.every((field) => cronField.test(field))) return problem('has characters that no field of a schedule has');
  const read = expression(fields, 0);
  return read.ok ? undefined : problem(`can't be read: ${read.reason}`);
}

/**
 * The first time of a schedule after `after`, both in milliseconds since the epoch; undefined if there is none.
 * A time of day that daylight saving skips comes later that day, by the length of the change; one that occurs twice
 * comes the first time only. A schedule of all 24 hours follows the local clock: it runs twice where the clock is put
 * back, and not where it is put forward.
 *
 * @param schedule must be valid.
 */
export function timeAfter({ schedule, timezone }: Schedule, after: number): number | undefined {
  const zone = timezone ?? 'UTC';
  const read = expression(fieldsOf(schedule) ?? [], earliestLocalTimeAfter(zone, after));
  if (!read.ok) return undefined;
  let first: number | undefined;
  for (const time of read.times()) {
    const { moments, instead } = findInstants(zone, time);
    const ofDay = instead === undefined ? moments.slice(0, 1) : [instead];
    for (const at of read.isHourly ? moments : ofDay) if (at > after && (first === undefined || at < first)) first = at;
    // Later local times are later moments; only a skipped one may come after those shown.
    if (moments[0] !== undefined && moments[0] > after) break;
  }
  return first;
}

/** The fields of a schedule, with aliases expanded; undefined for an unknown alias. */
function fieldsOf(schedule: string): string[] | undefined {
  const text = schedule.trim();
  const spelled = text.startsWith('@') ? named[text.toLowerCase()] : text;
  return spelled?.split(/\s+/).filter((field) => field !== '');
}

type ParsedSchedule = { ok: true; isHourly: boolean; times: () => Generator<WallTime> } | { ok: false; reason: string };

/** The local times of a schedule after `from`. Computed in UTC: the library makes mistakes around clock changes. */
function expression(fields: readonly string[], from: WallTime): ParsedSchedule {
  try {
    const parsed = CronExpressionParser.parse(fields.join(' '), { tz: 'UTC', currentDate: new Date(from) });
    const isHourly = new Set(parsed.fields.hour.values).size === 24;
    return { ok: true, isHourly, times: () => timesOf(parsed) };
  } catch (error) {
    return { ok: false, reason: withoutFullStop(messageOf(error)) };
  }
}

function* timesOf(parsed: CronExpression): Generator<WallTime> {
  try {
    for (;;) yield parsed.next().getTime();
  } catch (error) {
    // The library also throws if it finds no time far ahead.
    if (!(error instanceof Error && /loop limit|time span/i.test(error.message))) throw error;
  }
}
