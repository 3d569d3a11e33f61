import { expect, test } from 'vitest';
import { wordFinder } from '../../../src/contract/masking/find-words.ts';
import { cpuOf } from '../../fuzz/cpu.ts';

const found = (words: string[], text: string, cut = false): string[] =>
  wordFinder(words)(text, cut).map(({ start, end }) => text.slice(start, end));

test.each<[string, string[], string, string[]]>([
  ['a word wherever it stands', ['secret'], 'secret, a secret and secrets', ['secret', 'secret', 'secret']],
  ['the longest of those that begin alike', ['abcd', 'abcdef'], 'abcdefg abcde', ['abcdef', 'abcd']],
  ['all of those that overlap', ['abcdef', 'defghi'], 'abcdefghi', ['abcdefghi']],
  ['a word that begins again within itself', ['aaab'], 'aaaab', ['aaab']],
  ['what a pattern would take for signs', ['a.*b', '(?:x'], 'a.*b axxb (?:x', ['a.*b', '(?:x']],
  ['nothing of words that are too short', ['abc', ''], 'abc', []],
  ['nothing where there are no words', [], 'abc', []],
  ['nothing in a text that is shorter than every word', ['abcd'], 'abc', []],
])('finds %s', (_, words, text, expected) => expect(found(words, text)).toEqual(expected));

test('finds the start of a word at the end of a truncated text', () => {
  expect(found(['abcdefgh'], 'x abcdef', true)).toEqual(['abcdef']);
  expect(found(['abcdefgh'], 'x abcdef')).toEqual([]);
});

test('finds as much of a very long word as stands there', () => {
  const long = 'MARKER' + 'abcdefgh12'.repeat(100_000);
  expect(found([long], `[${long}]`)).toEqual([long]);
  expect(found([long], `[${long.slice(0, 5_000)}]`)).toEqual([long.slice(0, 5_000)]);
});

test('finds one of many words that begin alike', () => {
  const many = Array.from({ length: 50_000 }, (_, index) => `aaaa-${index}-b`);
  expect(found(many, `x ${many[49_999]} aaaa-b`)).toEqual([many[49_999]]);
});

test('takes a text for a secret as a whole where comparing it would take too long', () => {
  const alike = Array.from({ length: 1_000 }, (_, index) => `${'a'.repeat(index + 20)}b`);
  const text = 'a'.repeat(16_384);
  const find = wordFinder(alike);
  const plain = wordFinder(['another secret']);
  expect(find(text)).toEqual([{ start: 0, end: text.length }]);
  expect(cpuOf(() => find(text))).toBeLessThan(100 * cpuOf(() => plain('x'.repeat(16_384))));
});
