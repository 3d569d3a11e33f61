import { describe, expect, test } from 'vitest';
import { nextRun, decideDueCron } from '../../../../src/services/agent/crons/due.ts';
import type { Timing } from '../../../../src/services/agent/crons/due.ts';

const at = (text: string): number => Date.parse(`2026-${text}Z`);
const said = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString().slice(5, 16);
const timing = (schedule: string, end?: string, timezone: string | null = null): Timing => ({
  schedule,
  timezone,
  end: end === undefined ? undefined : at(end),
});

describe('a due cron', () => {
  test.each<[string, Timing, string, string, { kind: 'run' | 'passed-over'; next: string | undefined }]>([
    [
      'runs when polled in time',
      timing('0 9 * * *'),
      '11-21T09:00:00',
      '11-21T09:00:00.4',
      { kind: 'run', next: '11-22T09:00' },
    ],
    [
      'runs exactly at its time',
      timing('* * * * *'),
      '11-21T09:00:00',
      '11-21T09:00:00',
      { kind: 'run', next: '11-21T09:01' },
    ],
    [
      'catches up within an hour',
      timing('0 9 * * *'),
      '11-21T09:00:00',
      '11-21T10:00:00',
      { kind: 'run', next: '11-22T09:00' },
    ],
    [
      'is skipped after an hour',
      timing('0 9 * * *'),
      '11-21T09:00:00',
      '11-21T10:00:00.001',
      { kind: 'passed-over', next: '11-22T09:00' },
    ],
    [
      'runs once for several missed times',
      timing('*/5 * * * *'),
      '11-19T09:00:00',
      '11-21T10:02:00',
      { kind: 'run', next: '11-21T10:05' },
    ],
    [
      'runs only for the last missed day',
      timing('0 9 * * *'),
      '11-01T09:00:00',
      '11-21T09:30:00',
      { kind: 'run', next: '11-22T09:00' },
    ],
    [
      'is skipped if the last missed day is too long ago',
      timing('0 9 * * *'),
      '11-01T09:00:00',
      '11-21T12:00:00',
      { kind: 'passed-over', next: '11-22T09:00' },
    ],
    [
      'runs a last time at its end',
      timing('0 9 * * *', '11-21T09:00:00'),
      '11-21T09:00:00',
      '11-21T09:00:00.5',
      { kind: 'run', next: undefined },
    ],
    [
      'catches up also if its end has passed meanwhile',
      timing('*/5 * * * *', '11-21T09:12:00'),
      '11-21T09:00:00',
      '11-21T09:40:00',
      { kind: 'run', next: undefined },
    ],
    [
      'does not catch up if all recent times are after its end',
      timing('0 9 * * *', '11-20T12:00:00'),
      '11-20T09:00:00',
      '11-21T09:30:00',
      { kind: 'passed-over', next: undefined },
    ],
  ])('%s', (_, of, due, now, expected) => {
    const { kind, next } = decideDueCron(of, at(due), at(now));
    expect({ kind, next: said(next) }).toEqual(expected);
  });
});

describe('the next run', () => {
  test.each<[string, Timing, string | undefined]>([
    ['is the next time of the schedule', timing('0 9 * * *'), '11-21T09:00'],
    ['may be exactly at the end', timing('0 9 * * *', '11-21T09:00:00'), '11-21T09:00'],
    ['is never after the end', timing('0 9 * * *', '11-21T08:59:59'), undefined],
  ])('%s', (_, of, expected) => expect(said(nextRun(of, at('11-21T08:00:00')))).toBe(expected));

  test('runs once a day for a year with daylight saving, in ascending order', () => {
    const days = new Set<string>();
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Berlin' });
    let last = at('01-01T00:00:00');
    const end = at('12-31T12:00:00');
    for (;;) {
      const next = nextRun(timing('30 2 * * *', undefined, 'Europe/Berlin'), last);
      expect(next).toBeGreaterThan(last);
      if (next === undefined || next > end) break;
      days.add(day.format(next));
      last = next;
    }
    expect(days.size).toBe(365);
  });
});
