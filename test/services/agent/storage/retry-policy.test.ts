import { expect, test } from 'vitest';
import {
  RunOwnershipLost,
  queryWithRetries,
  withRetries,
} from '../../../../src/services/agent/storage/retry-policy.ts';
import { isDatabaseUnavailable } from '../../../../src/kit/postgres/unavailable.ts';

const gone = () => Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432'), { code: 'ECONNREFUSED' });
const clock = {
  now: () => 0,
  sleep: async (_ms: number, signal?: AbortSignal) => signal?.throwIfAborted(),
};

/** Fails as often as given because the database is unavailable, then succeeds. */
function after<T>(times: number, answer: () => T): () => Promise<T> {
  let left = times;
  return async () => {
    if (left-- > 0) throw gone();
    return answer();
  };
}

test('retries a query inside a run until it succeeds', async () => {
  const { signal } = new AbortController();
  expect(await withRetries({ clock, signal }, () => queryWithRetries(after(3, () => 'there')))).toBe('there');
});

test('stops retrying if another process took over the run meanwhile', async () => {
  const { signal } = new AbortController();
  const taken = after<never>(2, () => {
    throw new RunOwnershipLost('Another process goes on with this run.');
  });
  await expect(withRetries({ clock, signal }, () => queryWithRetries(taken))).rejects.toThrow(RunOwnershipLost);
});

test('stops retrying when the run is stopped, and discards its last write', async () => {
  const stop = new AbortController();
  const work = queryWithRetries.bind(undefined, async () => {
    stop.abort(new Error('The run took too long.'));
    throw gone();
  });
  await expect(withRetries({ clock, signal: stop.signal }, work)).rejects.toThrow(RunOwnershipLost);
});

test('outside of a run, fails at once and hides the database’s address', async () => {
  const error = await queryWithRetries(after(1, () => undefined)).catch((thrown: unknown) => thrown);
  expect(String(error)).toBe('DatabaseUnavailable: The database is unavailable.');
  // Routes still respond with 503.
  expect(isDatabaseUnavailable(error)).toBe(true);
});
