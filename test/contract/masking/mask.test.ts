import { describe, expect, test } from 'vitest';
import { maskOf } from '../../../src/contract/masking/mask.ts';
import { spellings } from '../../fuzz/spellings.ts';

const secrets = [
  'hunter2-hunter2',
  `it's "a" <b>&c=d/e+f g\\h`,
  'grün-wie-é-und-😀',
  'aaaaaaaaaaaaaaaa',
  '%41%42%43%44',
];

describe.each(secrets)('%s', (secret) => {
  const cases = spellings(secret).map(({ kind, written, core }): [string, string, string] => [kind, written, core]);
  test.each(cases.filter(([kind]) => kind !== 'coloured'))('is masked as %s', (_, written, core) => {
    const masked = maskOf([secret])(`before ${written} after`);
    expect(masked).toContain('***');
    expect(masked).not.toContain(core);
    expect(masked.startsWith('before ')).toBe(true);
    expect(masked.endsWith(' after')).toBe(true);
  });
});

test.each<[string, string, string, string]>([
  ['escapes that mix', 'a/b c&d', 'x=a%2fb&#32;c\\u0026d!', 'x=***!'],
  ['a secret at a cut', 'hunter2-hunter2', 'key hunter2-hu', 'key ***'],
  ['an escaped secret at a cut', 'a/b c&d e', 'key a%2Fb%20c%2', 'key ***%2'],
])('%s is masked', (_, secret, text, expected) => expect(maskOf([secret])(text, { cut: true })).toBe(expected));

test('text without secrets stays as it is, whatever escapes are in it', () => {
  const text = String.raw`100 % of C:\users\new &amp; %zz %e2%82 &#9999999; \u{110000} \ud83d \\`;
  expect(maskOf(secrets)(text)).toBe(text);
});
