import { expect, test } from 'vitest';
import { createFormatter, kindOfValue } from '../../../src/deploy/words/format-expectation.ts';

const words = createFormatter((text) => text);
const nodes = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
const list = (count: number) => `[${Array.from({ length: count }, () => '1').join(', ')}`;

test.each<[what: string, shown: string, expected: string]>([
  ['a value as JSON', words.brief({ a: [1, null, 'b'] }), '{"a": [1, null, "b"]}'],
  ['one as long as is allowed', words.brief('a'.repeat(198)), `"${'a'.repeat(198)}"`],
  ['a longer one, cut', words.brief('a'.repeat(199)), `"${'a'.repeat(198)}…`],
  [
    'a long list, cut',
    words.brief(
      Array.from({ length: 9 }, () => 1),
      10,
    ),
    `${list(3)},…`,
  ],
  ['a long key, cut', words.brief({ ['k'.repeat(30)]: 1 }, 10), '{"kkkkkkk…'],
  ['six levels, and no more', words.brief([[[[[[[1]]]]]]]), '[[[[[[[…]]]]]]]'],
  ['a text on one line', words.text(' a \n\t b '), 'a b'],
  ['a long text, cut', words.text('a'.repeat(100), 10), `${'a'.repeat(9)}…`],
  ['no text far behind blanks', words.text(`${' '.repeat(40)}b`, 10), ''],
  ['a text as long as is allowed', words.text('a'.repeat(10), 10), 'a'.repeat(10)],
  ['a control character by its number', words.text('a\u0007\u202eb'), 'a\\u0007\\u202eb'],
  ['no node', words.nodes([], ', '), 'none'],
  ['twenty nodes', words.nodes(nodes(20), ','), nodes(20).join(',')],
  [
    'the first twenty of more nodes, and how many there are',
    words.nodes(nodes(21), ','),
    `${nodes(20).join(',')},… (21)`,
  ],
  ['a long name of a node, cut', words.nodes(['n'.repeat(50)], ','), `${'n'.repeat(39)}…`],
])('shows %s', (_, shown, expected) => expect(shown).toBe(expected));

test.each([
  [null, 'null'],
  [['a'], 'a list'],
  [{ a: 1 }, 'a map'],
  [1, 'a number'],
  [true, 'a boolean'],
])('says what kind %j is', (value, kind) => expect(kindOfValue(value)).toBe(kind));

test('redacts the text to show, and behind it no more than the length of a secret', () => {
  const lengths: number[] = [];
  const spied = createFormatter((text) => {
    lengths.push(text.length);
    return text;
  });
  const long = 'x'.repeat(200_000);
  spied.brief({ key: long });
  spied.text(long, 10);
  expect(lengths).toEqual([3, 130_000 + 200 - '{}"key": '.length, 130_000 + 4 * 10]);
});

test('reads no more of a value than there is room for', () => {
  const read: PropertyKey[] = [];
  const watched = new Proxy(
    Array.from({ length: 1000 }, () => 1),
    {
      get(target, key) {
        read.push(key);
        return Reflect.get(target, key);
      },
    },
  );
  words.brief(watched, 11);
  expect(read).toEqual(['0', '1', '2']);
});
