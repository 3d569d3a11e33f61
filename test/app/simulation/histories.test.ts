import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { appCode } from './app-code.ts';
import { histories } from './deeds.ts';
import { tellHistory } from './told-history.ts';
import { judged } from './judged.ts';

const runs = 1_000;

test(
  `in ${runs} histories every cause makes one revision at most, heads are live or told, nothing stays open or is lost`,
  { timeout: 180_000 },
  async () => {
    const property = fc.asyncProperty(histories(14), async (history) => {
      const found = await judged(history, appCode);
      if (found.length > 0) throw new Error(found.join('\n'));
    });
    const result = await fc.check(property, { numRuns: runs, interruptAfterTimeLimit: 150_000 });
    expect(tellHistory(result)).toBe('');
    expect(result.numRuns).toBe(runs);
  },
);
