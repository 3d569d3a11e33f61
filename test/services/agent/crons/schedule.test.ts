import { describe, expect, test } from 'vitest';
import { scheduleProblem, timeAfter } from '../../../../src/kit/cron-schedule.ts';

/** The next times of a schedule in UTC. */
function times(schedule: string, timezone: string | null, from: string, count: number): string[] {
  const found: string[] = [];
  let at: number | undefined = Date.parse(from);
  while (at !== undefined && found.length < count) {
    at = timeAfter({ schedule, timezone }, at);
    if (at !== undefined) found.push(new Date(at).toISOString().slice(5, 16));
  }
  return found;
}

describe('the times of a schedule', () => {
  test.each<[string, string, string[]]>([
    ['every minute', '* * * * *', ['01-01T00:01', '01-01T00:02']],
    ['every quarter of an hour', '*/15 * * * *', ['01-01T00:15', '01-01T00:30']],
    ['working days at nine', '0 9 * * MON-FRI', ['01-01T09:00', '01-02T09:00', '01-05T09:00']],
    ['Sunday is 0 and 7', '0 0 * * 7', ['01-04T00:00', '01-11T00:00']],
    ['a day of the month or a day of the week', '0 0 9 * 1', ['01-05T00:00', '01-09T00:00', '01-12T00:00']],
    ['the last day of the month', '0 0 L * *', ['01-31T00:00', '02-28T00:00']],
    ['the second Monday', '0 0 * * 1#2', ['01-12T00:00', '02-09T00:00']],
    ['Thursdays by name', '0 0 * * thu', ['01-08T00:00', '01-15T00:00']],
    ['extra spaces', '  5   4 * * *  ', ['01-01T04:05', '01-02T04:05']],
    ['@hourly', '@hourly', ['01-01T01:00', '01-01T02:00']],
    ['@daily', '@daily', ['01-02T00:00', '01-03T00:00']],
    ['@midnight', '@midnight', ['01-02T00:00', '01-03T00:00']],
    ['@weekly', '@Weekly', ['01-04T00:00', '01-11T00:00']],
    ['@monthly', '@monthly', ['02-01T00:00', '03-01T00:00']],
    ['@yearly', '@yearly', ['01-01T00:00', '01-01T00:00']],
    ['@annually', '@annually', ['01-01T00:00', '01-01T00:00']],
  ])('%s', (_, schedule, expected) => {
    expect(scheduleProblem({ schedule, timezone: null })).toBeUndefined();
    expect(times(schedule, null, '2026-01-01T00:00:00Z', expected.length)).toEqual(expected);
  });

  test('are strictly after the start', () => {
    expect(times('0 9 * * *', null, '2026-01-01T09:00:00.000Z', 1)).toEqual(['01-02T09:00']);
    expect(times('0 9 * * *', null, '2026-01-01T08:59:59.999Z', 1)).toEqual(['01-01T09:00']);
  });

  test('may be years ahead for a leap day', () => {
    expect(timeAfter({ schedule: '0 0 29 2 *', timezone: null }, Date.parse('2026-03-01'))).toBe(
      Date.parse('2028-02-29'),
    );
  });

  test.each<[string, string, string, string, string[]]>([
    [
      'nine in Berlin, winter and summer',
      '0 9 * * *',
      'Europe/Berlin',
      '2026-03-27T12:00Z',
      ['03-28T08:00', '03-29T07:00'],
    ],
    ['nine in New York', '0 9 * * *', 'America/New_York', '2026-01-01T00:00Z', ['01-01T14:00', '01-02T14:00']],
    ['midnight in a zone ahead of UTC', '@daily', 'Pacific/Auckland', '2026-01-01T00:00Z', ['01-01T11:00']],
    ['a zone with a half-hour offset', '0 9 * * *', 'Asia/Kolkata', '2026-01-01T00:00Z', ['01-01T03:30']],
    [
      'a time skipped in spring runs an hour later',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T00:00Z',
      ['03-28T01:30', '03-29T01:30', '03-30T00:30'],
    ],
    [
      'a time repeated in autumn runs once, the first time',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T00:00Z',
      ['10-24T00:30', '10-25T00:30', '10-26T01:30'],
    ],
    [
      'every hour continues through the skipped hour',
      '0 * * * *',
      'Europe/Berlin',
      '2026-03-28T23:30Z',
      ['03-29T00:00', '03-29T01:00', '03-29T02:00'],
    ],
    [
      'every half hour continues through the repeated hour',
      '*/30 * * * *',
      'Europe/Berlin',
      '2026-10-24T23:45Z',
      ['10-25T00:00', '10-25T00:30', '10-25T01:00', '10-25T01:30', '10-25T02:00'],
    ],
    [
      'in the southern hemisphere spring is in October',
      '30 2 * * *',
      'Australia/Sydney',
      '2026-10-02T20:00Z',
      ['10-03T16:30', '10-04T15:30'],
    ],
  ])('%s', (_, schedule, timezone, from, expected) => {
    expect(scheduleProblem({ schedule, timezone })).toBeUndefined();
    expect(times(schedule, timezone, from, expected.length)).toEqual(expected);
  });
});

describe('rejects a schedule', () => {
  test.each<[string, string, RegExp]>([
    ['with too few fields', '* * * *', /^has 4 fields\. Write five fields/],
    ['with nothing but space', '   ', /^has 0 fields/],
    ['with seconds', '*/10 * * * * *', /^has six fields; runs come at whole minutes/],
    ['with a year', '0 0 0 1 1 * 2030', /^has 7 fields/],
    ['with an invalid minute', '61 * * * *', /^can't be read: .*61.* Write five fields/],
    ['with an invalid day', '0 0 32 * *', /^can't be read/],
    ['with a day that the month never has', '0 0 30 2 *', /^can't be read/],
    ['with a step of zero', '*/0 * * * *', /^can't be read/],
    ['with a reversed range', '5-1 * * * *', /^can't be read/],
    ['with a word', 'every day at * *', /^has characters|^can't be read/],
    ['with a random time', 'H * * * *', /^has characters/],
    ['with an unknown name', '@reboot', /^names no schedule that is known\. .*@daily/],
    ['with a duration', '@every 5m', /^names no schedule/],
    ['with the name of an object property', '@constructor', /^names no schedule/],
  ])('%s', (_, schedule, reason) => {
    const problem = scheduleProblem({ schedule, timezone: null });
    expect(problem?.field).toBe('schedule');
    expect(problem?.reason).toMatch(reason);
  });

  test.each(['Mars/Base', '+02:00', '', ' ', 'Europe/Berlin; drop'])('with the time zone "%s"', (timezone) => {
    expect(scheduleProblem({ schedule: '@daily', timezone })).toMatchObject({
      field: 'timezone',
      reason: expect.stringContaining('names no time zone'),
    });
  });

  test.each(['UTC', 'Europe/Berlin', 'US/Eastern', 'America/Argentina/Buenos_Aires'])(
    'but accepts the time zone %s',
    (timezone) => {
      expect(scheduleProblem({ schedule: '@daily', timezone })).toBeUndefined();
    },
  );
});
