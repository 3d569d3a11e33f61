import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  sealedBy,
  secretCipher,
  encryptionKey,
  WrongKeyError,
} from '../../../src/control-service/encryption/cipher.ts';

const [one, two] = [encryptionKey(randomBytes(32)), encryptionKey(randomBytes(32))];
const sealed = secretCipher(one).seal('secrets', 'canary');

test('ciphertext reveals only the id of its key', () => {
  expect(sealed).toMatch(/^sealed:v1:[0-9a-f]{16}:[\w-]{16}:[\w-]+$/);
  expect([sealedBy(sealed), sealed.includes('canary')]).toEqual([one.id, false]);
  expect(one.key.toString('hex')).not.toContain(one.id);
});

test('encrypting the same value twice gives different envelopes', () => {
  expect(secretCipher(one).seal('secrets', 'canary')).not.toBe(sealed);
});

test.each([
  ['nothing', ''],
  ['non-ASCII letters', 'kľúč 鍵 🔑'],
  ['much', 'x'.repeat(300_000)],
])('decrypts %s unchanged', (_, clear) =>
  expect(secretCipher(one).open('secrets', secretCipher(one).seal('secrets', clear))).toBe(clear),
);

test('decrypts with a former key and encrypts with the current one', () => {
  const both = secretCipher(two, [one]);
  expect([both.open('secrets', sealed), sealedBy(both.seal('secrets', 'a'))]).toEqual(['canary', two.id]);
});

test('reports a wrong key with the id of the missing one', () => {
  expect(() => secretCipher(two).open('secrets', sealed)).toThrow(WrongKeyError);
  expect(() => secretCipher(two).open('secrets', sealed)).toThrow(one.id);
});

test.each([
  ['in its text', () => sealed.replace(/(?<=:[^:]{16}:)./, (letter) => (letter === 'A' ? 'B' : 'A'))],
  [
    'in its nonce',
    () => sealed.replace(/^(.{27})(.)/, (_all, begin: string, letter: string) => begin + (letter === 'A' ? 'B' : 'A')),
  ],
  ['by truncation', () => sealed.slice(0, -4)],
])('rejects an envelope that was changed %s', (_, changed) => {
  expect(() => secretCipher(one).open('secrets', changed())).toThrow('unable to authenticate');
});

test('does not decrypt an envelope of one column in another', () => {
  expect(() => secretCipher(one).open('database_password', sealed)).toThrow('unable to authenticate');
});

test.each([['a text'], ['sealed:v1:'], ['sealed:v1:0123456789abcdef:short'], [''], [7], [null]])(
  '%s is not an envelope',
  (value) => {
    expect(sealedBy(value)).toBeUndefined();
  },
);
