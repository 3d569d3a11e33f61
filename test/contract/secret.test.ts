import { expect, test } from 'vitest';
import { heldSecrets, knownSecrets, textsToMask } from '../../src/contract/control/secret.ts';

const replies = (...values: (string | null | undefined)[]) => values.map((value, at) => ({ name: `S${at}`, value }));

test.each([
  ['values that are shown', ['one', 'two'], ['one', 'two'], ['one', 'two']],
  ['masked values', ['******', 'sk-a...9f'], [undefined, undefined], ['sk-a...9f']],
  ['a masked value beside one that is shown', ['one', '***a'], ['one', undefined], ['one', '***a']],
  ['no values', [null, undefined, ''], [undefined, undefined, undefined], []],
  ['a placeholder alone', ['<hidden>'], [undefined], []],
  ['a placeholder beside a value', ['one', 'hidden', ''], ['one', 'hidden', ''], ['one', 'hidden']],
])('%s', (_, values, held, masked) => {
  expect(heldSecrets(replies(...values))?.map(({ value }) => value)).toEqual(held);
  expect(knownSecrets(replies(...values)) === undefined).toBe(held.includes(undefined));
  expect(textsToMask(replies(...values))).toEqual(masked);
});

test('a service that lists no secrets says nothing of them', () => {
  for (const none of [null, undefined]) {
    expect([heldSecrets(none), knownSecrets(none), textsToMask(none)]).toEqual([undefined, undefined, []]);
  }
  expect([heldSecrets([]), knownSecrets([]), textsToMask([])]).toEqual([[], [], []]);
});
