import { expect, test } from 'vitest';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';
import { parseText } from '../../../src/kit/diagnostics/parse.ts';
import { excessOf } from '../../../src/kit/diagnostics/yaml-limits.ts';

const room = 65_000;
const tooDeep = 'this is nested too deeply';
const brackets = 'more than 10000 brackets and commas are not read: take out what is no configuration';

test.each<[what: string, text: string, offset: number, message: string]>([
  ['open lists', '['.repeat(room), 100, tooDeep],
  ['open maps', '{a: '.repeat(room / 4), 400, tooDeep],
  ['lists on one line', '- '.repeat(room / 2), 40, tooDeep],
  ['keys of keys on one line', '? '.repeat(room / 2), 40, tooDeep],
  ['pairs of brackets', '[]'.repeat(room / 2), 10_000, brackets],
  ['brackets that close nothing', ']'.repeat(room), 10_000, brackets],
  ['commas', `[${','.repeat(room)}`, 10_000, brackets],
  ['anchors', '&a '.repeat(room / 3), 3_000, 'more than 1000 anchors are not read'],
  ['aliases', '*a '.repeat(room / 3), 300, 'more than 100 aliases are not read'],
])('refuses a text of %s before it is parsed', (_, text, offset, message) => {
  expect(excessOf(text)).toEqual({ offset, message });
});

test.each<[what: string, text: string]>([
  [
    'brackets and anchors within texts',
    `a: |\n${'  [{&a *a '.repeat(3_000)}\nb: "${'[&a *b'.repeat(3_000)}"\n# ${'['.repeat(999)}`,
  ],
  ['many short lists', `a:\n${'  - [1, [2, 3]]\n'.repeat(1_000)}`],
  ['lists that nest twenty deep on each line', `${'- '.repeat(20)}a\n`.repeat(100)],
])('has nothing against %s', (_, text) => {
  expect(excessOf(text)).toBeUndefined();
});

test('names the line of what is too much, and reads nothing of the text', () => {
  const read = parseText(`name: a\nlist: ${'['.repeat(101)}`, 'landfall.yml');
  expect(read.ok ? [] : read.problems.map(formatProblem)).toEqual([`landfall.yml:2:107: ${tooDeep}`]);
});

test('reads no YAML of more than 64 KiB, whatever bound is given for JSON', () => {
  const long = JSON.stringify('a'.repeat(70_000));
  expect(parseText(long, 'a.yaml', { longest: 1_000_000 }).ok).toBe(false);
  expect(parseText(long, 'a.json', { longest: 1_000_000 }).ok).toBe(true);
});
