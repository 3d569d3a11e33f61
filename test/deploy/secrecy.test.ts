import { expect, test } from 'vitest';
import { Secrecy } from '../../src/deploy/secrecy.ts';

const hiding = (...values: string[]) => {
  const masked: string[] = [];
  const secrecy = new Secrecy((secret) => masked.push(secret));
  secrecy.learn(values.map((value) => ({ value })));
  return { secrecy, masked };
};

test.each([
  ['as it is', 'hush-hush', 'the token hush-hush is old', 'the token *** is old'],
  ['several times', 'hush-hush', 'hush-hush hush-hush', '*** ***'],
  ['in JSON', 'say "hush"', String.raw`{"token":"say \"hush\""}`, '{"token":"***"}'],
  ['in an address', 'hush/hush&', 'https://a.test/?token=hush%2Fhush%26', 'https://a.test/?token=***'],
  ['one line of many', 'BEGIN KEY\nabcdefgh\nEND KEY', 'read abcdefgh from disk', 'read *** from disk'],
  ['part of another one', 'hush-hush-more', 'hush-hush-more', '***'],
  ['too short to hide anything', 'on', 'turned on', 'turned on'],
])('a secret %s', (_, secret, text, reported) => {
  const { secrecy } = hiding('hush-hush', secret);
  expect(secrecy.redact(text)).toBe(reported);
});

test('each secret is masked once, an empty one never', () => {
  const { secrecy, masked } = hiding('one-secret', '', 'one-secret');
  secrecy.learn([{ value: 'one-secret' }, { value: 'another-one' }]);
  expect(masked).toEqual(['one-secret', 'another-one']);
});
