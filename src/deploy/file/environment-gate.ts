import * as z from 'zod';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { instantOf, isZone } from '../../kit/time-zone.ts';

/** A time in which nothing is deployed to an environment, with the reason that a person gave. */
export type FreezeWindow = { reason?: string } & (
  | {
      kind: 'once';
      /** Both in ms since the epoch; the end is not part of it. */
      from: number;
      until: number;
    }
  | {
      kind: 'weekly';
      /** Minutes of local time since the begin of a Monday; the end may be in the week after. */
      from: number;
      until: number;
      timeZone: string;
    }
);

/** What keeps deploys from an environment. */
export interface EnvironmentGate {
  /** The name of the environment, as the file lists it. */
  environment: string;
  /** Nothing arrives by itself: a person sends it. */
  hold: boolean;
  freeze: readonly FreezeWindow[];
}

const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const dayMinutes = 24 * 60;
const weekMinutes = 7 * dayMinutes;

const maxWindows = 20;
const maxReasonLength = 200;

const time = /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/;
const timeOfDay = /^(mon|tue|wed|thu|fri|sat|sun) ((?:[01]\d|2[0-3]):[0-5]\d|24:00)$/;
const date = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(Z|[+-]\d\d:\d\d)?)?$/;

const moment = z
  .string()
  .trim()
  .meta({ pattern: [time, timeOfDay, date].map(({ source }) => source).join('|') });

const timeZone = z
  .string()
  .trim()
  .superRefine((name, context) => {
    if (isZone(name)) return;
    const suggestion = didYouMean(name, ['UTC', ...Intl.supportedValuesOf('timeZone')]);
    const message = 'must be a time zone of the IANA database, such as `Europe/Berlin`';
    context.addIssue({ code: 'custom', message, params: { suggestion } });
  });

const writtenWindow = z.strictObject({
  days: z.array(z.enum(dayNames)).min(1).max(dayNames.length).exactOptional(),
  from: moment.exactOptional(),
  until: moment.exactOptional(),
  'time-zone': timeZone.default('UTC'),
  reason: z
    .string()
    .trim()
    .min(1)
    .max(maxReasonLength)
    .regex(/^[^\p{Cc}]*$/u, 'must be one line')
    .exactOptional(),
});

/** What is wrong with a window, at one of its fields. */
interface WindowFault {
  at: 'from' | 'until';
  message: string;
}

const window = writtenWindow.transform((written, context): FreezeWindow[] => {
  const { days, 'time-zone': zone, reason } = written;
  const read = days === undefined ? betweenMoments(written, zone) : eachDay(days, written, zone);
  if (Array.isArray(read)) return read.map((each) => (reason === undefined ? each : { ...each, reason }));
  const path = written[read.at] === undefined ? [] : [read.at];
  context.addIssue({ code: 'custom', path, message: read.message });
  return z.NEVER;
});

/** The windows in which an environment is frozen, as a person writes them. */
export const freezeField = z
  .array(window)
  .min(1)
  .max(maxWindows)
  .transform((windows) => windows.flat());

type Bounds = Pick<z.output<typeof writtenWindow>, 'from' | 'until'>;

/** One window on each day; one that ends at an earlier time of day ends on the day after. */
function eachDay(
  days: readonly (typeof dayNames)[number][],
  { from = '00:00', until = '24:00' }: Bounds,
  zone: string,
): FreezeWindow[] | WindowFault {
  for (const [at, text] of [['from', from] as const, ['until', until] as const])
    if (!time.test(text)) return { at, message: 'must be a time such as `16:00`, because `days` name the days' };
  const [begin, end] = [minutesOf(from), minutesOf(until)];
  if (begin % dayMinutes === end % dayMinutes && end - begin !== dayMinutes)
    return { at: 'until', message: 'must be another time than `from`' };
  return [...new Set(days)].map((name) => {
    const day = dayNames.indexOf(name) * dayMinutes;
    return {
      kind: 'weekly',
      from: day + begin,
      until: day + end + (end < begin ? dayMinutes : 0),
      timeZone: zone,
    };
  });
}

const forms = 'must be a date such as `2026-12-24`, a date and time such as `2026-12-24T18:00`, or `fri 16:00`';

function betweenMoments({ from, until }: Bounds, zone: string): FreezeWindow[] | WindowFault {
  if (from === undefined || until === undefined)
    return { at: 'from', message: 'must have `days`, or both `from` and `until`' };
  const [begin, end] = [weekMinuteOf(from), weekMinuteOf(until)];
  if (begin !== undefined && end !== undefined) {
    if (begin % weekMinutes === end % weekMinutes && end - begin !== weekMinutes)
      return { at: 'until', message: 'must be another time than `from`' };
    return [{ kind: 'weekly', from: begin, until: end < begin ? end + weekMinutes : end, timeZone: zone }];
  }
  const [start, stop] = [instantsOf(from, zone)?.first, instantsOf(until, zone)?.end];
  if (start === undefined)
    return { at: 'from', message: begin === undefined ? forms : 'must be written as `until` is' };
  if (stop === undefined) return { at: 'until', message: end === undefined ? forms : 'must be written as `from` is' };
  if (stop <= start) return { at: 'until', message: 'must be later than `from`' };
  return [{ kind: 'once', from: start, until: stop }];
}

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

function weekMinuteOf(text: string): number | undefined {
  const [, day, at] = timeOfDay.exec(text) ?? [];
  const index = dayNames.findIndex((name) => name === day);
  return index < 0 || at === undefined ? undefined : index * dayMinutes + minutesOf(at);
}

/**
 * When a date or a date and time begins, and when a window until then ends: a date counts as a whole. A time that the
 * clock shows twice begins at the first and ends at the second.
 */
function instantsOf(text: string, zone: string): { first: number; end: number } | undefined {
  const [, day = '', at, offset] = date.exec(text) ?? [];
  const wall = Date.parse(`${day}T${at ?? '00:00'}Z`);
  // A 30th of February is read as a day of March.
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 10) !== day) return undefined;
  if (offset !== undefined) {
    const instant = Date.parse(`${day}T${at ?? '00:00'}${offset}`);
    return Number.isNaN(instant) ? undefined : { first: instant, end: instant };
  }
  const end = at === undefined ? wall + dayMinutes * 60_000 : wall;
  return { first: instantOf(zone, wall, 'first'), end: instantOf(zone, end, 'last') };
}
