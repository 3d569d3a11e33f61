import type * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { previewHistories } from '../previews/preview-history.ts';
import { appCode } from './app-code.ts';
import type { History } from './commands.ts';
import { mixedHistories } from './mixed.ts';
import { searched } from './searched.ts';

test.each<[string, fc.Arbitrary<History>, number]>([
  ['previews, promotions and commands together', mixedHistories(14), 250],
  ['pull requests with previews alone', previewHistories(12), 200],
])('keeps every invariant in random histories of %s', async (_, histories, runs) => {
  const { reported, played } = await searched(histories, appCode, {
    numRuns: runs,
    seed: 2_026,
    interruptAfterTimeLimit: 280_000,
    markInterruptAsFailure: true,
  });
  expect(reported).toBe('');
  expect(played).toBe(runs);
});
