import { expect, test } from 'vitest';
import { minuteOf, minutesBetween } from '../../src/demo/agent-scenarios.ts';

const at = (time: string): number => Date.parse(`2026-03-01T${time}Z`);

test.each([
  ['of one that began in a minute and was looked at in the same: none', '12:00:10', '12:00:59.999', []],
  ['the next, as soon as it begins', '12:00:10', '12:01:00', ['12:01:00']],
  ['each of several', '12:00:10', '12:03:30', ['12:01:00', '12:02:00', '12:03:00']],
  ['not the one that it began with', '12:00:00', '12:01:30', ['12:01:00']],
  ['none before it began', '12:05:00', '12:01:00', []],
])('minutes: %s', (_, from, to, minutes) => {
  expect(minutesBetween(at(from), at(to))).toEqual(minutes.map(at));
});

test('a moment lies in the minute that began before it', () => {
  expect(minuteOf(at('12:01:02.345'))).toBe(at('12:01:00'));
});
