import { expect, test } from 'vitest';
import { admissionWatch } from '../../../../src/services/control/api-keys/admission-watch.ts';
import { steppedClock } from './stepped-clock.ts';

/** A stream that records its checks and its end. */
function aStream(check: () => boolean | Error = () => true) {
  const seen: string[] = [];
  const isAdmitted = async (): Promise<boolean> => {
    seen.push('checked');
    const result = check();
    if (result instanceof Error) throw result;
    return result;
  };
  return { seen, isAdmitted, end: () => void seen.push('ended') };
}

test('checks each stream every 15 s, with one timer, and not one that has ended before', async () => {
  const { clock, advance, left } = steppedClock();
  const watch = admissionWatch(clock);
  const [first, second, brief] = [aStream(), aStream(), aStream()];
  const stopFirst = watch(first.isAdmitted, first.end);
  const stopBrief = watch(brief.isAdmitted, brief.end);
  await advance(10_000);
  const stopSecond = watch(second.isAdmitted, second.end);
  stopBrief();
  expect(left()).toEqual([5_000]);
  await advance(14_999);
  expect([first.seen, second.seen, brief.seen]).toEqual([['checked'], [], []]);
  await advance(5_001);
  expect([first.seen, second.seen]).toEqual([['checked', 'checked'], ['checked']]);
  stopFirst();
  stopSecond();
  await advance(15_000);
  expect(left()).toEqual([]);
  const next = aStream();
  watch(next.isAdmitted, next.end);
  await advance(15_000);
  expect(next.seen).toEqual(['checked']);
});

test('ends only the stream whose caller would not be admitted, and none where the check fails', async () => {
  const { clock, advance } = steppedClock();
  const watch = admissionWatch(clock);
  const answers = [new Error('the database is unavailable'), true, false];
  const [refused, other] = [aStream(() => answers.shift() ?? false), aStream()];
  watch(refused.isAdmitted, refused.end);
  const stopOther = watch(other.isAdmitted, other.end);
  await advance(30_000);
  expect(refused.seen).toEqual(['checked', 'checked']);
  await advance(30_000);
  expect(refused.seen).toEqual(['checked', 'checked', 'checked', 'ended']);
  expect(other.seen).toEqual(['checked', 'checked', 'checked', 'checked']);
  stopOther();
});

test('goes on with new streams after the last one was refused', async () => {
  const { clock, advance, left } = steppedClock();
  const watch = admissionWatch(clock);
  for (let round = 0; round < 2; round += 1) {
    const { seen, isAdmitted, end } = aStream(() => false);
    watch(isAdmitted, end);
    await advance(15_000);
    expect([seen, left()]).toEqual([['checked', 'ended'], []]);
  }
});
