import { expect, test } from 'vitest';
import { hiderOf } from '../../src/contract/hide-words.ts';

test.each<[string, string[], string, string]>([
  ['a word wherever it stands', ['secret'], 'secret, a secret and secrets', '***, a *** and ***s'],
  ['the longest of those that begin alike', ['abcd', 'abcdef'], 'abcdefg abcde', '***g ***e'],
  ['the first of those that overlap', ['abcdef', 'defghi'], 'abcdefghi', '***ghi'],
  ['a word that begins again within itself', ['aaab'], 'aaaab', 'a***'],
  ['what a pattern would take for signs', ['a.*b', '(?:x'], 'a.*b axxb (?:x', '*** axxb ***'],
  ['nothing of words that are too short', ['abc', ''], 'abc', 'abc'],
  ['nothing where there are no words', [], 'abc', 'abc'],
  ['a text that is shorter than every word', ['abcd'], 'abc', 'abc'],
])('%s is hidden', (_, words, text, told) => expect(hiderOf(words)(text)).toBe(told));

test('words of any length, and any number of them, are hidden without delay', () => {
  const long = 'MARKER' + 'abcdefgh12'.repeat(100_000);
  const many = Array.from({ length: 50_000 }, (_, index) => `aaaa-${index}-b`);
  const hide = hiderOf([long, ...many]);
  expect(hide(`[${long}] ${many[49_999]}`)).toBe('[***] ***');
  const begun = performance.now();
  for (let line = 0; line < 100; line += 1) expect(hide('aaaa-'.repeat(800))).toHaveLength(4_000);
  expect(performance.now() - begun).toBeLessThan(2_000);
});
