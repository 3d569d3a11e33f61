import { expect, test } from 'vitest';
import { durationMs, formatDuration } from '../../../src/deploy/file/written-text.ts';

test.each<[written: string, ms: number | undefined]>([
  ['1500ms', 1500],
  ['5s', 5000],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['2.5s', 2500],
  ['0.001s', 1],
  ['5 s', 5000],
  ['5', undefined],
  ['s', undefined],
  ['-5s', undefined],
  ['5sec', undefined],
  ['1e3s', undefined],
  ['5s5', undefined],
  ['constructor', undefined],
  ['9'.repeat(40), undefined],
])('%j is %s ms', (written, ms) => expect(durationMs(written)).toBe(ms));

test.each<[ms: number, words: string]>([
  [0, '0ms'],
  [999, '999ms'],
  [1500, '1500ms'],
  [5000, '5s'],
  [90_000, '90s'],
  [120_000, '2m'],
  [3_600_000, '1h'],
])('%s ms is formatted as %j', (ms, words) => expect(formatDuration(ms)).toBe(words));
