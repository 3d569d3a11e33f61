import { silentLogger } from '../../../../src/kit/logger.ts';
import { loggerTo } from '../../../logger.ts';
import { expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import { retryPolicy } from '../../../../src/services/control/rollouts/retry-policy.ts';
import { TooManyConnectionsError } from '../../../../src/kit/postgres/unavailable.ts';

const away = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** A clock that records waits and ends them at once. */
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

test('retries work with backoff until the database is back', async () => {
  const clock = watchfulClock();
  const logged: string[] = [];
  let attempts = 0;
  const retrying = retryPolicy(
    clock,
    new AbortController().signal,
    loggerTo((message) => logged.push(message)),
  );
  const done = await retrying(async () => {
    attempts += 1;
    if (attempts < 8) throw away();
    return 'done';
  });
  expect(done).toBe('done');
  expect(clock.waits).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  expect(logged[0]).toBe('The database does not answer; trying again (connect ECONNREFUSED)');
});

test('waits for a free connection; after five minutes the error gives advice', async () => {
  let now = 0;
  const clock: Clock = { now: () => now, sleep: async (ms) => void (now += ms) };
  const full = new TooManyConnectionsError(new Error('too many clients'));
  const retrying = retryPolicy(clock, new AbortController().signal, silentLogger);
  expect(await retrying(() => (now < 60_000 ? Promise.reject(full) : Promise.resolve('done')))).toBe('done');
  await expect(retrying(() => Promise.reject(full))).rejects.toBe(full);
  expect(now).toBeGreaterThan(300_000);
});

test('does not retry other errors', async () => {
  const error = new Error('syntax error');
  const clock = watchfulClock();
  const retrying = retryPolicy(clock, new AbortController().signal, silentLogger);
  await expect(retrying(() => Promise.reject(error))).rejects.toBe(error);
  expect(clock.waits).toEqual([]);
});

test('stops waiting when the service stops', async () => {
  const stopping = new AbortController();
  const retrying = retryPolicy(
    watchfulClock(),
    stopping.signal,
    loggerTo(() => stopping.abort(new Error('stopping'))),
  );
  await expect(retrying(() => Promise.reject(away()))).rejects.toThrow('stopping');
  await expect(retrying(async () => 'done')).rejects.toThrow('stopping');
});
