import { expect, test } from 'vitest';
import type { Clock } from '../../../src/clock.ts';
import { patience } from '../../../src/control-service/rollouts/patience.ts';
import { TooManyConnectionsError } from '../../../src/database/unavailable.ts';

const away = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** A clock that remembers how long was waited, and passes that time at once. */
function watchfulClock(): Clock & { waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => 0,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      waits.push(ms);
    },
  };
}

test('work on a database that is away is repeated until it is back, with longer and longer waits', async () => {
  const clock = watchfulClock();
  const logged: string[] = [];
  let attempts = 0;
  const patiently = patience(clock, new AbortController().signal, (message) => logged.push(message));
  const done = await patiently(async () => {
    attempts += 1;
    if (attempts < 8) throw away();
    return 'done';
  });
  expect(done).toBe('done');
  expect(clock.waits).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  expect(logged[0]).toBe('The database does not answer; trying again (connect ECONNREFUSED)');
});

test('a server without a connection left is waited for, and after five minutes the error says what to change', async () => {
  let now = 0;
  const clock: Clock = { now: () => now, sleep: async (ms) => void (now += ms) };
  const full = new TooManyConnectionsError(new Error('too many clients'));
  const patiently = patience(clock, new AbortController().signal, () => undefined);
  expect(await patiently(() => (now < 60_000 ? Promise.reject(full) : Promise.resolve('done')))).toBe('done');
  await expect(patiently(() => Promise.reject(full))).rejects.toBe(full);
  expect(now).toBeGreaterThan(300_000);
});

test('a mistake in the work is no reason to wait', async () => {
  const error = new Error('syntax error');
  const clock = watchfulClock();
  const patiently = patience(clock, new AbortController().signal, () => undefined);
  await expect(patiently(() => Promise.reject(error))).rejects.toBe(error);
  expect(clock.waits).toEqual([]);
});

test('when the service stops nothing is waited for', async () => {
  const stopping = new AbortController();
  const patiently = patience(watchfulClock(), stopping.signal, () => stopping.abort(new Error('stopping')));
  await expect(patiently(() => Promise.reject(away()))).rejects.toThrow('stopping');
  await expect(patiently(async () => 'done')).rejects.toThrow('stopping');
});
