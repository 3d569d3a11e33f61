import { expect, test } from 'vitest';
import { appCode } from './app-code.ts';
import { gatedHistories } from './gated.ts';
import { searched } from './searched.ts';

const runs = 1_000;

test(`keeps every invariant in ${runs} random histories in which pushes wait for checks`, async () => {
  const { reported, played } = await searched(gatedHistories(12), appCode, {
    numRuns: runs,
    seed: 2_026,
    interruptAfterTimeLimit: 280_000,
    markInterruptAsFailure: true,
  });
  expect(reported).toBe('');
  expect(played).toBe(runs);
});
