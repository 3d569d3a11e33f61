import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { playPreviews, previewHistories } from './preview-history.ts';
import { previewCode } from './preview-world.ts';
import { previewViolations } from './preview-invariants.ts';

/** The same ones every time; the slow run plays 10,000. */
const runs = 300;

test(`leaves no preview behind and harms nothing in ${runs} random histories`, async () => {
  await fc.assert(
    fc.asyncProperty(previewHistories(12), async (history) => {
      const world = await playPreviews(history, previewCode);
      expect(previewViolations(world)).toEqual([]);
    }),
    { numRuns: runs, seed: 2_026 },
  );
});
