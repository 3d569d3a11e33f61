import { expect, test } from 'vitest';
import { NotKept } from '../../../src/agent-server/graphs/not-kept.ts';
import { queryWithRetries, withRetries } from '../../../src/agent-server/graphs/retry-policy.ts';
import { isDatabaseUnavailable } from '../../../src/postgres/unavailable.ts';

const gone = () => Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432'), { code: 'ECONNREFUSED' });
const clock = {
  now: () => 0,
  sleep: async (_ms: number, signal?: AbortSignal) => signal?.throwIfAborted(),
};

/** Answers once the database has been away for so many times. */
function after<T>(times: number, answer: () => T): () => Promise<T> {
  let left = times;
  return async () => {
    if (left-- > 0) throw gone();
    return answer();
  };
}

test('inside a run the database is asked until it answers', async () => {
  const { signal } = new AbortController();
  expect(await withRetries({ clock, signal }, () => queryWithRetries(after(3, () => 'there')))).toBe('there');
});

test('what is wrong with the run itself ends the wait: another process took it while the database was away', async () => {
  const { signal } = new AbortController();
  const taken = after<never>(2, () => {
    throw new NotKept('Another process goes on with this run.');
  });
  await expect(withRetries({ clock, signal }, () => queryWithRetries(taken))).rejects.toThrow(NotKept);
});

test('a run that is stopped waits no longer, and what it did last is not kept', async () => {
  const stop = new AbortController();
  const work = queryWithRetries.bind(undefined, async () => {
    stop.abort(new Error('The run took too long.'));
    throw gone();
  });
  await expect(withRetries({ clock, signal: stop.signal }, work)).rejects.toThrow(NotKept);
});

test('outside of a run nothing waits, and where the database is stays untold', async () => {
  const error = await queryWithRetries(after(1, () => undefined)).catch((thrown: unknown) => thrown);
  expect(String(error)).toBe('DatabaseAway: The database is away.');
  // Routes still know it for what it is: 503.
  expect(isDatabaseUnavailable(error)).toBe(true);
});
