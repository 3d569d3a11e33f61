import { expect, test } from 'vitest';
import { jsonWithin } from '../../../src/deploy/rules/json-in-text.ts';

test.each<[text: string, found: unknown[]]>([
  ['', []],
  ['no JSON: 1 "a" null', []],
  ['{"a": [1, {"b": 2}]}', [{ a: [1, { b: 2 }] }]],
  ['first {"a":1}, then [2]', [{ a: 1 }, [2]]],
  ['[see {"a":1}]', [{ a: 1 }]],
  ['an "open text: {"a":"\\"}{"} and [', [{ a: '"}{' }]],
  ['{"a":1', []],
  ['{] [}', []],
])('finds the outermost JSON in %j', (text, found) => {
  expect(jsonWithin(text)).toEqual(found);
});

// Read on to the end from each bracket, such a text would take a minute.
test.each(['[', '{"', '[]', '[x]', '{"a":1} '])(
  'a text of nothing but %j is read a bounded number of times',
  (part) => {
    expect(jsonWithin(part.repeat(100_000)).length).toBeLessThanOrEqual(20);
  },
);
