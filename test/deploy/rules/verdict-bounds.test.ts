import { expect, test } from 'vitest';
import type { ValueTest } from '../../../src/deploy/file/smoke-test.ts';
import { tooLarge } from '../../../src/deploy/rules/expectation-schema.ts';
import { checkPath } from '../../../src/deploy/rules/expectation-value.ts';
import { createFormatter } from '../../../src/deploy/words/format-expectation.ts';

const words = createFormatter((text) => text);

/** So many lists, each within the other, and a value in the innermost one. */
const nested = (lists: number, ...inner: unknown[]): unknown => (lists === 1 ? inner : [nested(lists - 1, ...inner)]);

test.each<[what: string, value: unknown, most: { nodes: number; text: number }, why: string | undefined]>([
  ['a number', 1, { nodes: 1, text: 0 }, undefined],
  ['null', null, { nodes: 1, text: 0 }, undefined],
  ['a text as long as is allowed', 'abc', { nodes: 1, text: 3 }, undefined],
  ['a longer text', 'abcd', { nodes: 1, text: 3 }, 'more than 3 characters'],
  ['texts that are too long together', ['ab', ['cd']], { nodes: 9, text: 3 }, 'more than 3 characters'],
  ['keys that are as long as is allowed', { ab: { c: 1 } }, { nodes: 9, text: 3 }, undefined],
  ['keys that are too long together', { ab: { cd: 1 } }, { nodes: 9, text: 3 }, 'more than 3 characters'],
  ['a list, whose indexes are no text', [1, 2, 3], { nodes: 9, text: 0 }, undefined],
  ['as many values as are allowed', [1, { a: 2 }], { nodes: 4, text: 9 }, undefined],
  ['more values', [1, { a: 2, b: 3 }], { nodes: 4, text: 9 }, 'more than 4 values'],
  ['lists as deep as is allowed', nested(100, 1, null, 'a'), { nodes: 999, text: 9 }, undefined],
  ['deeper lists', nested(101), { nodes: 999, text: 9 }, 'values nested deeper than 100'],
])('bounds the size of values: %s', (_, value, most, why) => expect(tooLarge(value, most)).toBe(why));

const is = (value: unknown): ValueTest => ({ kind: 'equals', value });
const contains = (text: string): ValueTest => ({ kind: 'contains', text });
const matches = (pattern: string): ValueTest => ({ kind: 'matches', pattern });
const anything: ValueTest = { kind: 'schema', schema: {} };

const many = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
const letters = (count: number): string => 'b'.repeat(count);
const map = (count: number) => Object.fromEntries(many(count, 0).map((zero, index) => [`k${index}`, zero]));

/** A pattern that takes more than 900 steps for each character. */
const slow = matches('a{900}');
const tooMuchText = 'more text than this pattern can be matched with: make the pattern or the text shorter';
const tooManySteps = 'nothing: the path takes too many steps, so search fewer places';

test.each<[what: string, path: string, expected: ValueTest, values: unknown, held: boolean, seen: string]>([
  ['a path through as many values as are searched', '$..x', is(0), many(19_999, 0), false, 'nothing at this path'],
  [
    'a path through more values',
    '$..x',
    is(0),
    many(20_000, 0),
    false,
    'more than 20000 values: too large for a path that searches them',
  ],
  ['a plain path into more values', '$[20000]', is(1), [...many(20_000, 0), 1], true, '1'],
  [
    'a path through as much text as is searched',
    '$[*]',
    contains('c'),
    [`${letters(999_999)}c`],
    true,
    words.brief(letters(999)),
  ],
  [
    'a path through more text',
    '$[*]',
    contains('c'),
    [`${letters(1_000_000)}c`],
    false,
    'more than 1000000 characters: too large for a path that searches them',
  ],
  ['as many values at a path as are judged', '$[*]', is(0), many(1000, 0), true, '$[0]: 0'],
  ['more values at a path', '$[*]', is(0), many(1001, 0), false, 'more than 1000 values at this path'],
  [
    'a filter that reads a list again for each value',
    '$[?count($[*])>9000]',
    is(0),
    many(2000, 0),
    false,
    tooManySteps,
  ],
  ['a filter that reads a map again for each value', '$[?count($[*])>9000]', is(0), map(1000), false, tooManySteps],
  ['many indexes in many segments', `$${'[0,0,0,0,0,0,0,0,0,0]'.repeat(7)}.x`, is(0), nested(10), false, tooManySteps],
  ['a text as long as is matched', '$', matches('b$'), letters(100_000), true, words.brief(letters(999))],
  [
    'a longer text',
    '$',
    slow,
    letters(100_001),
    false,
    'a text of 100001 characters, more than the 100000 that are matched',
  ],
  ['the longest text with a slow pattern', '$', slow, letters(100_000), false, tooMuchText],
  [
    'texts that are too long together for a pattern',
    '$[*]',
    matches('b|a{900}'),
    many(2, letters(20_000)),
    false,
    `$[1]: ${tooMuchText}`,
  ],
  ['a list, which is not matched', '$', slow, many(100_000, 0), false, `a list, not text: ${words.brief(many(99, 0))}`],
  ['null, which is not matched', '$', matches('null'), null, false, 'null, not text: null'],
  ['as many values as are held to a schema', '$', anything, many(9_999, 0), true, words.brief(many(99, 0))],
  [
    'more values for a schema',
    '$',
    anything,
    many(10_000, 0),
    false,
    `more than 10000 values: too large to be held to a JSON Schema (${words.brief(many(99, 0), 120)})`,
  ],
  ['as much text as is held to a schema', '$', anything, letters(100_000), true, words.brief(letters(999))],
  [
    'more text for a schema',
    '$',
    anything,
    letters(100_001),
    false,
    `more than 100000 characters: too large to be held to a JSON Schema (${words.brief(letters(999), 120)})`,
  ],
])('bounds the work of an expectation: %s', (_, path, expected, values, held, seen) =>
  expect(checkPath(path, expected, values, words)).toEqual({ held, seen }),
);

test.each<[what: string, path: string, expected: ValueTest, values: unknown, held: boolean, seen: string]>([
  [
    'a path that does not compile',
    'reply',
    is(0),
    {},
    false,
    'nothing: the path must be a JSONPath query: begin with `$`, the values of the run',
  ],
  [
    'a pattern that does not compile',
    '$',
    matches('('),
    'a',
    false,
    'nothing: the pattern must be a regular expression of RE2: missing closing )',
  ],
  ['values that are true alone', '$', is(true), true, true, 'true'],
  ['values that are null', '$', is(null), null, true, 'null'],
  [
    'a place of six steps',
    '$[*]..e',
    is(1),
    [{ a: { b: { c: { d: { e: 1 } } } } }, { e: 1 }],
    true,
    '$[0].a.b.c.d.e: 1',
  ],
  [
    'a place of more steps, cut in the middle',
    '$[*]..f',
    is(1),
    [{ a: { b: { c: { d: { e: { f: 1 } } } } } }, { f: 1 }],
    true,
    '$[0].a.b….e.f: 1',
  ],
])('reports %s', (_, path, expected, values, held, seen) =>
  expect(checkPath(path, expected, values, words)).toEqual({ held, seen }),
);

test.each<[what: string, schema: Record<string, unknown>, value: unknown, seen: string]>([
  ['the whole of the values', { type: 'string' }, 1, 'Instance type "number" is invalid. Expected "string". (1)'],
  [
    'a place whose name has signs of its own',
    { additionalProperties: { type: 'string' } },
    { 'a/b~c%d e': 1 },
    'at /a/b~c%d e: Instance type "number" is invalid. Expected "string". ({"a/b~c%d e": 1})',
  ],
  ['a key that is half a character', {}, { '\ud800': 1 }, 'a key that is no well-formed text ({"\\ud800": 1})'],
])('names where values do not fit a schema: %s', (_, schema, value, seen) =>
  expect(checkPath('$', { kind: 'schema', schema }, value, words)).toEqual({ held: false, seen }),
);
