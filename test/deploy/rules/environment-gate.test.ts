import { describe, expect, test } from 'vitest';
import type { FreezeWindow } from '../../../src/deploy/file/environment-gate.ts';
import { decideFreeze, type FreezeState } from '../../../src/deploy/rules/environment-gate.ts';

const at = (text: string): number => Date.parse(text);
const day = 1440;

const once = (from: string, until: string, reason?: string): FreezeWindow => ({
  kind: 'once',
  from: at(from),
  until: at(until),
  ...(reason === undefined ? {} : { reason }),
});

/** In days and hours of the week, from Monday at midnight. */
const weekly = (from: [number, number], until: [number, number], timeZone = 'UTC', reason?: string): FreezeWindow => ({
  kind: 'weekly',
  from: from[0] * day + from[1] * 60,
  until: until[0] * day + until[1] * 60,
  timeZone,
  ...(reason === undefined ? {} : { reason }),
});

const open: FreezeState = { kind: 'open' };
const frozen = (until?: string, reason?: string): FreezeState => ({
  kind: 'frozen',
  ...(until === undefined ? {} : { until: at(until) }),
  ...(reason === undefined ? {} : { reason }),
});

const weekend = weekly([4, 16], [7, 8]);
const nights = [0, 1, 2, 3, 4, 5, 6].map((each) => weekly([each, 18], [each + 1, 8]));
const always = [0, 1, 2, 3, 4, 5, 6].map((each) => weekly([each, 0], [each + 1, 0]));

// 2026-11-30 is a Monday.
test.each<[sentence: string, windows: FreezeWindow[], now: string, state: FreezeState]>([
  ['no windows', [], '2026-11-30T12:00Z', open],
  ['before one', [once('2026-12-24T00:00Z', '2026-12-27T00:00Z')], '2026-12-23T23:59:59Z', open],
  [
    'its first moment',
    [once('2026-12-24T00:00Z', '2026-12-27T00:00Z', 'Holidays')],
    '2026-12-24T00:00Z',
    frozen('2026-12-27T00:00Z', 'Holidays'),
  ],
  ['its end is not part of it', [once('2026-12-24T00:00Z', '2026-12-27T00:00Z')], '2026-12-27T00:00Z', open],
  ['a friday before it', [weekend], '2026-12-04T15:59Z', open],
  ['a friday in it', [weekend], '2026-12-04T16:00Z', frozen('2026-12-07T08:00Z')],
  ['a monday that belongs to the week before', [weekend], '2026-12-07T07:59Z', frozen('2026-12-07T08:00Z')],
  ['a monday after it', [weekend], '2026-12-07T08:00Z', open],
  ['past midnight', nights, '2026-12-02T03:00Z', frozen('2026-12-02T08:00Z')],
  ['between two nights', nights, '2026-12-02T12:00Z', open],
  [
    'overlapping windows are one, with the reason of the longest that has begun',
    [
      weekly([4, 16], [7, 8], 'UTC', 'Weekend'),
      once('2026-12-05T00:00Z', '2026-12-06T00:00Z', 'Launch'),
      once('2026-12-07T07:00Z', '2026-12-08T00:00Z', 'Later'),
    ],
    '2026-12-05T12:00Z',
    frozen('2026-12-08T00:00Z', 'Weekend'),
  ],
  [
    'windows that follow each other without a gap',
    [weekly([5, 0], [6, 0]), weekly([6, 0], [7, 0]), weekly([4, 16], [5, 0])],
    '2026-12-04T20:00Z',
    frozen('2026-12-07T00:00Z'),
  ],
  ['no end in sight', always, '2026-12-01T00:00Z', frozen()],
  [
    'no end in sight after a window of years',
    [...always, once('2026-01-01T00:00Z', '2030-01-01T00:00Z')],
    '2026-12-01T00:00Z',
    frozen(),
  ],
  [
    'a window of years that goes over into others',
    [once('2026-01-01T00:00Z', '2030-01-05T00:00Z'), weekend, once('2030-01-07T07:00Z', '2030-01-08T00:00Z')],
    '2026-12-01T00:00Z',
    frozen('2030-01-08T00:00Z'),
  ],
  ['a week that is frozen but for an hour', [weekly([0, 1], [7, 0])], '2026-12-01T00:00Z', frozen('2026-12-07T00:00Z')],
  [
    'an end that is far away',
    [once('2020-01-01T00:00Z', '2040-01-01T00:00Z')],
    '2026-12-01T00:00Z',
    frozen('2040-01-01T00:00Z'),
  ],
  ['another time zone', [weekly([0, 0], [0, 8], 'America/New_York')], '2026-11-30T12:59Z', frozen('2026-11-30T13:00Z')],
  [
    'a time zone in which it is not that day yet',
    [weekly([0, 0], [0, 8], 'America/New_York')],
    '2026-11-30T04:59Z',
    open,
  ],
  [
    'a time zone that is ahead',
    [weekly([0, 0], [0, 8], 'Asia/Tokyo')],
    '2026-11-29T15:00Z',
    frozen('2026-11-29T23:00Z'),
  ],
  ['before the epoch', [weekend], '1969-12-27T12:00Z', frozen('1969-12-29T08:00Z')],
])('%s', (_, windows, now, state) => {
  expect(decideFreeze(windows, at(now))).toEqual(state);
});

describe('when the clock changes in Berlin', () => {
  // Put forward on 2027-03-28 from 02:00 to 03:00, put back on 2026-10-25 from 03:00 to 02:00: both are Sundays.
  const until = (hour: number): FreezeWindow => weekly([5, 12], [6, hour], 'Europe/Berlin');
  const from = (hour: number): FreezeWindow => weekly([6, hour], [6, 12], 'Europe/Berlin');
  test.each<[sentence: string, window: FreezeWindow, now: string, state: FreezeState]>([
    ['the end in winter', until(8), '2026-12-06T06:00Z', frozen('2026-12-06T07:00Z')],
    ['the end in summer', until(8), '2027-06-06T05:00Z', frozen('2027-06-06T06:00Z')],
    ['the end on the day it is put forward', until(8), '2027-03-27T20:00Z', frozen('2027-03-28T06:00Z')],
    ['the end on the day it is put back', until(8), '2026-10-24T20:00Z', frozen('2026-10-25T07:00Z')],
    ['an end that comes twice is the second', until(2), '2026-10-25T00:30Z', frozen('2026-10-25T01:00Z')],
    ['a begin that comes twice is the first', from(2), '2026-10-25T00:00Z', frozen('2026-10-25T11:00Z')],
    ['not before the first', from(2), '2026-10-24T23:59Z', open],
    ['an end that is skipped comes after the change', until(2), '2027-03-28T00:59Z', frozen('2027-03-28T01:00Z')],
    ['a begin that is skipped comes after the change', from(2), '2027-03-28T01:00Z', frozen('2027-03-28T10:00Z')],
    ['not before the change', from(2), '2027-03-28T00:59Z', open],
  ])('%s', (_, window, now, state) => {
    expect(decideFreeze([window], at(now))).toEqual(state);
  });
});

test('as many windows as a file may have are decided in bounded work', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const windows = zones.slice(0, 140).map((zone, index) => weekly([index % 6, 0], [(index % 6) + 1, 0], zone));
  const bridges = Array.from({ length: 10 }, (_, index) =>
    once(`2026-12-0${index % 9}T00:00Z`, `20${27 + index}-01-01T00:00Z`),
  );
  const { prototype } = Intl.DateTimeFormat;
  const original = Object.getOwnPropertyDescriptor(prototype, 'format') ?? {};
  let count = 0;
  const get = function counted(this: Intl.DateTimeFormat): unknown {
    count += 1;
    return original.get?.call(this);
  };
  Object.defineProperty(prototype, 'format', { ...original, get });
  try {
    decideFreeze([...windows, ...bridges], at('2026-12-05T00:00Z'));
  } finally {
    Object.defineProperty(prototype, 'format', original);
  }
  // Each of 140 windows, in each of five weeks, at both ends, by at most five offsets, for each bridge.
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThan(12 * 140 * 5 * 2 * 5);
});
