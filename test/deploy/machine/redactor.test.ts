import { expect, test } from 'vitest';
import { Redactor } from '../../../src/deploy/machine/redactor.ts';

const hiding = (...values: string[]) => {
  const masked: string[] = [];
  const redactor = new Redactor((secret) => masked.push(secret));
  redactor.add(values);
  return { redactor, masked };
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
  const { redactor } = hiding('hush-hush', secret);
  expect(redactor.redact(text)).toBe(reported);
});

test('each secret is masked once, an empty one never', () => {
  const { redactor, masked } = hiding('one-secret', '', 'one-secret');
  redactor.add(['one-secret', 'another-one']);
  expect(masked).toEqual(['one-secret', 'another-one']);
});
