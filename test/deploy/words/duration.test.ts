import { expect, test } from 'vitest';
import { durationText } from '../../../src/deploy/words/verdict-table/words.ts';

test.each([
  [0, '0 ms'],
  [340, '340 ms'],
  [2400, '2.4 s'],
  [41_000, '41 s'],
  [185_000, '3 min 5 s'],
  [180_000, '3 min'],
])('%d ms are %s', (ms, words) => expect(durationText(ms)).toBe(words));
