import { expect, test } from 'vitest';
import { strictMaskOf } from '../../../src/contract/masking/mask.ts';

test.each<[string, string[], string, string]>([
  ['a secret is replaced wherever it stands', ['hunter22'], 'a hunter22, xhunter22y', 'a ***, x***y'],
  ['the longer one goes first where one begins like another', ['hunter', 'hunter22'], 'hunter22 hunter', '*** ***'],
  ['as JSON writes it', ['say "a"\n'], String.raw`got "say \"a\"\n"`, 'got "***"'],
  ['as a URL writes it', ['a b/c&d'], 'x=a%20b%2Fc%26d', 'x=***'],
  ['without the line break that it was stored with', ['hunter22\n'], 'key hunter22!', 'key ***!'],
  [
    'each long line of a key by itself',
    ['-----BEGIN-----\nMIIBabcd1234\n-----END-----'],
    'line MIIBabcd1234',
    'line ***',
  ],
  ['signs that mean something in a pattern are plain', ['a.b*c(d)[e]$^|\\'], 'abbbc a.b*c(d)[e]$^|\\', 'abbbc ***'],
  ['a tiny one is replaced as a word only', ['1', 'on'], 'status 401 on 1 button', 'status 401 *** *** button'],
  [
    'one that is longer than a pattern may be',
    ['abcdefgh12'.repeat(12_000), '1'],
    `on 1 ${'abcdefgh12'.repeat(12_000)}`,
    'on *** ***',
  ],
  ['nothing is replaced where there is no secret', ['', ''], 'as it was', 'as it was'],
])('%s', (_, secrets, text, expected) => {
  expect(strictMaskOf(secrets)(text)).toBe(expected);
});

test('half a surrogate pair in a secret does no harm', () => {
  expect(strictMaskOf(['ab\ud83dcd'])('plain')).toBe('plain');
});
