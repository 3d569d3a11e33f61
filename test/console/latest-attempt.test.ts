import { expect, test } from 'vitest';
import { LatestAttempt } from '../../src/console/api/latest-attempt.ts';

test('an attempt that takes longer than a poll goes on; it ends for another one, and when nothing comes of it', async () => {
  const attempt = new LatestAttempt();
  const slow = Promise.withResolvers<string>();
  const signals: AbortSignal[] = [];
  const load = (signal: AbortSignal): Promise<string> => {
    signals.push(signal);
    return signals.length === 1 ? slow.promise : Promise.resolve('second');
  };
  const first = attempt.run(load, 0);
  expect([attempt.isDue(5_000), attempt.isDue(61_000)]).toEqual([false, true]);
  expect(await attempt.run(load, 5_000)).toEqual({ data: 'second' });
  slow.resolve('first');
  expect([await first, signals.map(({ aborted }) => aborted)]).toEqual([undefined, [true, false]]);
  expect([attempt.isDue(5_001), attempt.isDue(5_400, 500), attempt.isDue(5_500, 500)]).toEqual([true, false, true]);
  const error = new Error('lost');
  expect(await attempt.run(() => Promise.reject(error), 6_000)).toEqual({ error });
  const left = attempt.run(() => Promise.resolve(1), 7_000);
  attempt.end();
  expect(await left).toBeUndefined();
});
