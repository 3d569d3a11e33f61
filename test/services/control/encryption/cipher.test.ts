import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  encryptionKeyOf,
  secretCipher,
  encryptionKey,
  WrongKeyError,
} from '../../../../src/services/control/encryption/cipher.ts';

const [one, two] = [encryptionKey(randomBytes(32)), encryptionKey(randomBytes(32))];
const sealed = secretCipher(one).encrypt('secrets', 'canary');

test('ciphertext reveals only the id of its key', () => {
  expect(sealed).toMatch(/^sealed:v1:[0-9a-f]{16}:[\w-]{16}:[\w-]+$/);
  expect([encryptionKeyOf(sealed), sealed.includes('canary')]).toEqual([one.id, false]);
  expect(one.key.toString('hex')).not.toContain(one.id);
});

test('encrypting the same value twice gives different envelopes', () => {
  expect(secretCipher(one).encrypt('secrets', 'canary')).not.toBe(sealed);
});

test.each([
  ['nothing', ''],
  ['non-ASCII letters', 'kľúč 鍵 🔑'],
  ['much', 'x'.repeat(300_000)],
])('decrypts %s unchanged', (_, clear) =>
  expect(secretCipher(one).decrypt('secrets', secretCipher(one).encrypt('secrets', clear))).toBe(clear),
);

test('decrypts with a former key and encrypts with the current one', () => {
  const both = secretCipher(two, [one]);
  expect([both.decrypt('secrets', sealed), encryptionKeyOf(both.encrypt('secrets', 'a'))]).toEqual(['canary', two.id]);
});

test('reports a wrong key with the id of the missing one', () => {
  expect(() => secretCipher(two).decrypt('secrets', sealed)).toThrow(WrongKeyError);
  expect(() => secretCipher(two).decrypt('secrets', sealed)).toThrow(one.id);
});

test.each([
  ['in its text', () => sealed.replace(/(?<=:[^:]{16}:)./, (letter) => (letter === 'A' ? 'B' : 'A'))],
  [
    'in its nonce',
    () => sealed.replace(/^(.{27})(.)/, (_all, begin: string, letter: string) => begin + (letter === 'A' ? 'B' : 'A')),
  ],
  ['by truncation', () => sealed.slice(0, -4)],
])('rejects an envelope that was changed %s', (_, changed) => {
  expect(() => secretCipher(one).decrypt('secrets', changed())).toThrow('unable to authenticate');
});

test('does not decrypt an envelope of one column in another', () => {
  expect(() => secretCipher(one).decrypt('database_password', sealed)).toThrow('unable to authenticate');
});

test.each([['a text'], ['sealed:v1:'], ['sealed:v1:0123456789abcdef:short'], [''], [7], [null]])(
  '%s is not an envelope',
  (value) => {
    expect(encryptionKeyOf(value)).toBeUndefined();
  },
);
