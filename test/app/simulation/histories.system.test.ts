import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { appCode } from './app-code.ts';
import { commentHistories, histories } from './commands.ts';
import { searched } from './searched.ts';

/** The same ones every time; `bench/app-histories.ts` plays new ones. */
const runs = 1_000;
const seed = 2_026;

test(`keeps every invariant in ${runs} random histories`, async () => {
  const { reported, played } = await searched(histories(14), appCode, {
    numRuns: runs,
    seed,
    // Reports what was found by then, as far as it was shrunk.
    interruptAfterTimeLimit: 280_000,
    markInterruptAsFailure: true,
  });
  expect(reported).toBe('');
  expect(played).toBe(runs);
});

/** As many of them with commands in comments, which are lost, doubled and killed as everything else is. */
const commentRuns = 500;

test(`keeps every invariant in ${commentRuns} random histories of commands in comments`, async () => {
  const { reported, played } = await searched(commentHistories(14), appCode, {
    numRuns: commentRuns,
    seed,
    interruptAfterTimeLimit: 200_000,
    markInterruptAsFailure: true,
  });
  expect(reported).toBe('');
  expect(played).toBe(commentRuns);
});

test('replays a history in the same way', async () => {
  const [history] = fc.sample(histories(14), { numRuns: 1, seed: 7 });
  if (!history) throw new Error('there is no history');
  const once = await searched(fc.constant(history), appCode, { numRuns: 1 });
  const again = await searched(fc.constant(history), appCode, { numRuns: 1 });
  expect(again.traces).toEqual(once.traces);
  expect(once.traces[0]?.length).toBeGreaterThan(3);
});
