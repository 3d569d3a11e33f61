import { describe, expect, test } from 'vitest';
import { nothingToDeploy } from '../../../app/events/commit-check.ts';
import { checkLimitBytes } from '../../../src/deploy/words/summary.ts';

/** Texts of which a character is longer as bytes, or as Markdown. */
const long = [
  ['of three bytes a character', '数'],
  ['of four bytes a character', '😀'],
  ['of markup', '`*`'],
] as const;

describe('a summary of the check of a commit', () => {
  test.each(long)('keeps to what GitHub takes with names %s', (_, sign) => {
    const refused = Array.from({ length: 60 }, () => ({ deployment: sign.repeat(250), why: sign.repeat(500) }));
    const { summary } = nothingToDeploy('no deployment is built from it', refused, 0, 'A hint.');
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(checkLimitBytes);
    expect(summary).toMatch(/^No deployment is built from it\.\n\nA hint\.\n\nNot acted upon:\n\n- /);
    expect(summary).toContain('left out');
  });
});
