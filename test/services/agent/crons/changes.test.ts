import { describe, expect, test } from 'vitest';
import { timeAfter } from '../../../../src/kit/cron-schedule.ts';
import { changingZones, shown } from './zones.ts';
import type { Change, ChangingZone } from './zones.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const zones = changingZones(Date.parse('2026-01-01'), Date.parse('2029-01-01'));
const everyChange = zones.flatMap((zone) => zone.changes.map((change) => ({ ...zone, change })));

/** One change of each kind per zone: same time of day, same offset, every year. */
const everyKind = [
  ...new Map(
    everyChange.map((of) => [`${of.zone} ${of.change.at % DAY} ${of.change.before} ${of.change.after}`, of]),
  ).values(),
];

const written = (moments: readonly number[]): string[] => moments.map((at) => new Date(at).toISOString().slice(0, 19));

/** The times of a schedule between two moments; each must be later than the one before. */
function between(schedule: string, timezone: string, from: number, to: number): number[] {
  const found: number[] = [];
  let last = from;
  for (;;) {
    const next = timeAfter({ schedule, timezone }, last);
    if (next === undefined || next <= last) throw new Error(`${schedule} in ${timezone} after ${last} is ${next}`);
    if (next >= to) return found;
    found.push(next);
    last = next;
  }
}

/** When a time of day occurs on each day around a change, found by reading the wall clock every minute. */
function everyDay(zone: ChangingZone, { at, before, after }: Change, timeOfDay: number): number[] {
  const middle = Math.floor((at + before) / DAY) * DAY;
  return [-1, 0, 1, 2]
    .map((days) => middle + days * DAY + timeOfDay)
    .map((time) => {
      for (let moment = time - 15 * HOUR; moment < time + 15 * HOUR; moment += MINUTE)
        if (shown(zone, moment) === time) return moment;
      const skipped = time - (at + before);
      expect(skipped).toBeLessThan(after - before);
      return at + skipped;
    });
}

describe('around every clock change of all time zones', () => {
  test('there are such changes, of an hour and others', () => {
    expect(zones.length).toBeGreaterThan(15);
    const lengths = new Set(everyChange.map(({ change }) => Math.abs(change.after - change.before) / MINUTE));
    expect([...lengths]).toEqual(expect.arrayContaining([30, 60]));
  });

  test('a time of day occurs once a day, from any starting point', () => {
    for (const { change, ...zone } of everyKind) {
      const { at, before, after } = change;
      const [low, high] = [Math.min(before, after), Math.max(before, after)];
      // The edges of the skipped or repeated time, and its middle.
      for (const time of [at + low, at + (low + high) / 2, at + high - MINUTE, at + high]) {
        const of = new Date(time);
        const schedule = `${of.getUTCMinutes()} ${of.getUTCHours()} * * *`;
        const days = everyDay(zone, change, time - Math.floor(time / DAY) * DAY);
        const [first = NaN, , , last = NaN] = days;
        expect(written(between(schedule, zone.zone, first - 1, last + 1)), `${schedule} ${zone.zone}`).toEqual(
          written(days),
        );
        for (const away of [-121, -59, -16, -1 / MINUTE, 0, 1, 14, 31, 61, 119])
          expect(
            timeAfter({ schedule, timezone: zone.zone }, at + away * MINUTE),
            `${schedule} ${zone.zone} ${at} ${away}`,
          ).toBe(days.find((day) => day > at + away * MINUTE));
      }
    }
  });

  test('quarter hours are 15 minutes apart', () => {
    for (const { zone, change } of everyChange) {
      expect(Math.abs(change.after - change.before) % (15 * MINUTE)).toBe(0);
      const found = between('*/15 * * * *', zone, change.at - 3 * HOUR - 1, change.at + 3 * HOUR);
      const expected = Array.from({ length: 24 }, (_, index) => change.at - 3 * HOUR + index * 15 * MINUTE);
      expect([zone, ...written(found)]).toEqual([zone, ...written(expected)]);
    }
  });

  test('full hours follow the wall clock', () => {
    for (const { change, ...zone } of everyChange) {
      const expected: number[] = [];
      for (let at = change.at - 3 * HOUR; at < change.at + 3 * HOUR; at += MINUTE)
        if (shown(zone, at) % HOUR === 0) expected.push(at);
      const found = between('0 * * * *', zone.zone, change.at - 3 * HOUR - 1, change.at + 3 * HOUR);
      expect([zone.zone, ...written(found)]).toEqual([zone.zone, ...written(expected)]);
    }
  });
});

describe('clock changes', () => {
  test.each<[string, string, string, string, string, string[]]>([
    [
      'skipped times run later',
      'Europe/Berlin',
      '0,30 2 * * *',
      '2027-03-28T00:00Z',
      '2027-03-29T12:00Z',
      ['28T01:00', '28T01:30', '29T00:00', '29T00:30'],
    ],
    [
      'every quarter of the skipped hour runs later',
      'Europe/Berlin',
      '*/15 2 * * *',
      '2027-03-28T00:00Z',
      '2027-03-28T12:00Z',
      ['28T01:00', '28T01:15', '28T01:30', '28T01:45'],
    ],
    [
      'a skipped time still runs when computed after the change',
      'Europe/Berlin',
      '30 2 * * *',
      '2027-03-28T01:10Z',
      '2027-03-29T12:00Z',
      ['28T01:30', '29T00:30'],
    ],
    [
      'two times that become one run once',
      'Europe/Berlin',
      '30 2,3 * * *',
      '2027-03-28T00:00Z',
      '2027-03-28T12:00Z',
      ['28T01:30'],
    ],
    [
      'a repeated second hour runs once',
      'Europe/Berlin',
      '30 */2 * * *',
      '2027-10-30T22:00Z',
      '2027-10-31T04:00Z',
      ['30T22:30', '31T00:30', '31T03:30'],
    ],
    [
      'does not repeat a time after the clock is set back',
      'Europe/Berlin',
      '30 2 * * *',
      '2027-10-31T01:05Z',
      '2027-11-01T12:00Z',
      ['01T01:30'],
    ],
    ['nor in New York', 'America/New_York', '30 1 * * *', '2027-11-07T06:20Z', '2027-11-08T12:00Z', ['08T06:30']],
    [
      'a repeated midnight runs the first time',
      'America/Havana',
      '0 0 * * *',
      '2027-11-06T12:00Z',
      '2027-11-08T12:00Z',
      ['07T04:00', '08T05:00'],
    ],
    [
      'also on the Azores',
      'Atlantic/Azores',
      '0 0 * * *',
      '2027-10-30T12:00Z',
      '2027-11-01T12:00Z',
      ['31T00:00', '01T01:00'],
    ],
    [
      'a change of two hours repeats nothing',
      'Antarctica/Troll',
      '0,30 2 * * *',
      '2027-10-30T12:00Z',
      '2027-11-01T12:00Z',
      ['31T00:00', '31T00:30', '01T02:00', '01T02:30'],
    ],
    [
      'a 45-minute offset gives no past time',
      'Pacific/Chatham',
      '*/15 * * * *',
      '2027-04-03T13:00:00.500Z',
      '2027-04-03T14:31Z',
      ['03T13:15', '03T13:30', '03T13:45', '03T14:00', '03T14:15', '03T14:30'],
    ],
    [
      'nor for an hourly schedule',
      'Pacific/Chatham',
      '45 * * * *',
      '2027-04-03T12:00:00.500Z',
      '2027-04-03T15:30Z',
      ['03T13:00', '03T14:00', '03T15:00'],
    ],
    [
      'half-hour change: nights continue in April',
      'Australia/Lord_Howe',
      '0 1 * * *',
      '2027-04-03T12:00Z',
      '2027-04-05T12:00Z',
      ['03T14:00', '04T14:30'],
    ],
    [
      'half-hour change: evenings continue',
      'Australia/Lord_Howe',
      '0 23 * * *',
      '2027-04-02T20:00Z',
      '2027-04-04T20:00Z',
      ['03T12:00', '04T12:30'],
    ],
    [
      'half-hour change: a skipped time runs later',
      'Australia/Lord_Howe',
      '0 2 * * *',
      '2027-10-02T12:00Z',
      '2027-10-04T12:00Z',
      ['02T15:30', '03T15:00'],
    ],
    [
      'half-hour change: every half hour continues',
      'Australia/Lord_Howe',
      '*/30 * * * *',
      '2027-04-03T14:00Z',
      '2027-04-03T16:01Z',
      ['03T14:30', '03T15:00', '03T15:30', '03T16:00'],
    ],
    [
      'half-hour change: hours follow the wall clock',
      'Australia/Lord_Howe',
      '0 * * * *',
      '2027-10-02T14:00Z',
      '2027-10-02T17:01Z',
      ['02T14:30', '02T16:00', '02T17:00'],
    ],
    [
      'an evening skipped up to midnight runs in the night',
      'America/Nuuk',
      '30 23 * * *',
      '2027-03-27T12:00Z',
      '2027-03-29T12:00Z',
      ['28T01:30', '29T00:30'],
    ],
  ])('%s: %s, "%s"', (_, zone, schedule, from, to, expected) => {
    const found = between(schedule, zone, Date.parse(from), Date.parse(to));
    expect(found.map((at) => new Date(at).toISOString().slice(8, 16))).toEqual(expected);
  });

  test('accepts a zone in any case', () => {
    const after = Date.parse('2027-03-28T01:10Z');
    expect(timeAfter({ schedule: '30 2 * * *', timezone: 'europe/BERLIN' }, after)).toBe(
      Date.parse('2027-03-28T01:30Z'),
    );
  });
});
