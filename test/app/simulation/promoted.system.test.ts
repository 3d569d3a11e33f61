import { expect, test } from 'vitest';
import { appCode } from './app-code.ts';
import { promotedHistories } from './promoted.ts';
import { searched } from './searched.ts';

const runs = 300;

test(`keeps every invariant in ${runs} random histories of two environments in order`, async () => {
  const { reported, played } = await searched(promotedHistories(14), appCode, {
    numRuns: runs,
    seed: 2_026,
    interruptAfterTimeLimit: 200_000,
    markInterruptAsFailure: true,
  });
  expect(reported).toBe('');
  expect(played).toBe(runs);
});
