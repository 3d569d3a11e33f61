import { expect, test } from 'vitest';
import { cutText } from '../../src/kit/plain-text.ts';
import { maskCutText, maskOf } from '../../src/contract/masking/mask.ts';

test.each([
  ['short', 8, 'short'],
  ['a longer text', 10, 'a lo [...]'],
  ['abc\u{1F600} and more', 10, 'abc\uFFFD [...]'],
])('the text %j in %i characters is %j', (text, longest, cut) => {
  expect(cutText(text, longest)).toBe(cut);
});

test.each([
  ['sk-0123456789', '***'],
  ['key sk-01234 [...]', 'key *** [...]'],
  ['key sk-01234…', 'key ***…'],
  ['key sk-01234', 'key sk-01234'],
])('masking %j of a secret makes %j', (text, masked) => {
  expect(maskCutText(maskOf(['sk-0123456789']), text)).toBe(masked);
});
