import { expect, test } from 'vitest';
import { systemClock, untilAborted, withTimeout } from '../../src/kit/clock.ts';

/** Work that ends with the reason for which its signal aborts. */
const untilEnded = async (signal: AbortSignal): Promise<unknown> => {
  await untilAborted(signal);
  return signal.reason;
};

test('a timeout returns what the work returns', async () => {
  expect(await withTimeout(systemClock, 600_000, async () => 'done')).toBe('done');
});

test('a timeout aborts the work with a TimeoutError', async () => {
  const reason = await withTimeout(systemClock, 10, untilEnded, new AbortController().signal);
  expect(reason).toMatchObject({ name: 'TimeoutError', message: 'no answer within 0.01 s' });
});

test.each([
  ['before', true],
  ['during', false],
])('a timeout passes on why the caller aborted %s the work', async (_, isBefore) => {
  const outer = new AbortController();
  const gone = new Error('gone');
  if (isBefore) outer.abort(gone);
  const ended = withTimeout(systemClock, 600_000, untilEnded, outer.signal);
  outer.abort(gone);
  expect(await ended).toBe(gone);
});

test('a caller that aborts later does not abort work that has ended', async () => {
  const outer = new AbortController();
  const signal = await withTimeout(systemClock, 600_000, async (given) => given, outer.signal);
  outer.abort();
  expect(signal.aborted).toBe(false);
});
