import { expect, test } from 'vitest';
import { secretParts, secretSpellings } from '../../../src/contract/masking/secret-spellings.ts';

test.each<[string, string, string[]]>([
  ['a plain one is returned whole', 'hunter22', ['hunter22']],
  ['one with a line break at its end, also without it', 'hunter22\n', ['hunter22\n', 'hunter22']],
  [
    'one of many lines, whichever way they end',
    'BEGIN\r\n abcd \n}\nEND',
    ['BEGIN\r\n abcd \n}\nEND', 'BEGIN', 'abcd'],
  ],
  ['a tiny one is still the whole', 'on', ['on']],
  ['none is nothing', '', []],
  ['nor is white space', ' \n\t \n', []],
])('%s', (_, secret, parts) => expect(secretParts(secret)).toEqual(parts));

test.each<[string, string, string]>([
  ['as it is', 'say "hush"', 'say "hush"'],
  ['in JSON', 'say "hush"', String.raw`say \"hush\"`],
  ['in JSON in JSON', 'say "hush"', String.raw`say \\\"hush\\\"`],
  ['in other quotation marks', String.raw`say "a\nb"`, String.raw`say "a\\nb"`],
  ['in an address', 'hush/hush&', 'hush%2Fhush%26'],
  ['in base64', 'hush~hush?', 'aHVzaH5odXNoPw=='],
  ['in base64 for addresses', 'hush~hush?', 'aHVzaH5odXNoPw'],
  ['a line of many, in an address', 'BEGIN\nab/cd\nEND', 'ab%2Fcd'],
])('is found %s', (_, secret, spelling) => expect(secretSpellings(secret)).toContain(spelling));

test('half a character in a secret does no harm', () => {
  expect(secretSpellings('ab\ud83dcd')).toContain('ab\ud83dcd');
});

test('what base64 makes of a tiny one would hide other words', () => {
  expect(secretSpellings('on')).toEqual(['on']);
});
