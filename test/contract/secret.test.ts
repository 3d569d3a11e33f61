import { expect, test } from 'vitest';
import { knownSecrets, shownValue, textsToMask } from '../../src/contract/control/secret.ts';

const replies = (...values: (string | null | undefined)[]) => values.map((value, at) => ({ name: `S${at}`, value }));

test.each([
  ['values that are shown', ['one', 'two'], ['one', 'two'], ['one', 'two']],
  ['masked values', ['******', 'sk-a...9f'], [undefined, undefined], ['sk-a...9f']],
  ['a masked value beside one that is shown', ['one', '***a'], ['one', undefined], ['one', '***a']],
  ['no values', [null, undefined, ''], [undefined, undefined, undefined], []],
  ['a word in place of a value', ['<hidden>'], [undefined], ['<hidden>']],
])('%s', (_, values, shown, masked) => {
  expect(replies(...values).map(shownValue)).toEqual(shown);
  expect(knownSecrets(replies(...values)) === undefined).toBe(shown.includes(undefined));
  expect(textsToMask(replies(...values))).toEqual(masked);
});

test('a service that lists no secrets says nothing of them', () => {
  for (const none of [null, undefined]) expect([knownSecrets(none), textsToMask(none)]).toEqual([undefined, []]);
  expect([knownSecrets([]), textsToMask([])]).toEqual([[], []]);
});
