import { beforeEach, expect, test } from 'vitest';
import { isExpired } from '../../../app/reconcile/deadlines.ts';
import { QueueFixture, SetClock } from './queue-fixture.ts';
import { commitOf, start } from './requests.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const lengthMs = 30 * minute;

/** How the time of day goes while 30 minutes pass, and what it does between two processes. */
test.each([
  ['evenly', 0, 29 * minute, false],
  ['evenly', 0, 30 * minute, true],
  ['a day forward', day, minute, false],
  ['a day forward', day, 30 * minute, true],
  ['a day back', -day, 29 * minute, false],
  ['a day back', -day, 30 * minute, true],
])('30 minutes with the clock going %s (%i ms): expired after %i ms is %s', (_, jump, passed, over) => {
  const clock = new SetClock();
  const deadline = clock.now() + lengthMs;
  expect(isExpired(clock, 'intent', deadline, lengthMs)).toBe(false);
  clock.jump(jump);
  clock.to(clock.now() + passed);
  expect(isExpired(clock, 'intent', deadline, lengthMs)).toBe(over);
});

test('a process started after the clock went back does not extend a deadline', () => {
  const clock = new SetClock();
  const deadline = clock.now() + day;
  expect(isExpired(clock, 'intent', deadline, lengthMs)).toBe(false);
  clock.to(clock.now() + lengthMs);
  expect(isExpired(clock, 'intent', deadline, lengthMs)).toBe(true);
});

test('a deadline that was over before the process started is over', () => {
  expect(isExpired(new SetClock(), 'intent', start - 1, lengthMs)).toBe(true);
});

const a = commitOf('a');
let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

test('a revision that is built while the clock goes a day forward is not given up', async () => {
  fixture.control.goes.set(a, [
    { after: 0, status: 'BUILDING', commit: a },
    { after: day + 5 * minute, status: 'DEPLOYED', commit: a },
  ]);
  await fixture.push('a');
  await fixture.run(minute);
  fixture.clock.jump(day);
  await fixture.run();
  expect(await fixture.ends(a)).toEqual(['deployed']);
});

test('a revision that is never live is given up in its time by a clock set back', async () => {
  fixture.control.goes.set(a, [{ after: -2 * day, status: 'BUILDING', commit: a }]);
  await fixture.push('a');
  await fixture.run(minute);
  fixture.clock.jump(-day);
  const { timeoutMs } = (await fixture.intent(a)).terms;
  for (let passed = 0; passed <= timeoutMs; passed += 10 * minute) {
    // As recovery does every 10 minutes.
    await fixture.store.wake('d1');
    await fixture.run(10 * minute);
  }
  expect(await fixture.ends(a)).toEqual(['timed-out']);
});
