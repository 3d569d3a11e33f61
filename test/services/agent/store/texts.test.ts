import { describe, expect, test } from 'vitest';
import { textsAt } from '../../../../src/services/agent/store/texts.ts';
import { readTextPath } from '../../../../src/contract/agent/text-path.ts';

const value = {
  title: 'Tea',
  cups: 3,
  hot: false,
  none: null,
  blank: ' ',
  meta: { tags: ['green', 'black'], 'own key': 'x' },
  items: [{ text: 'first' }, { text: 'second' }, { other: 1 }],
};

describe('the texts of a value', () => {
  test.each<[string, string[], string[]]>([
    ['the whole value as JSON', ['$'], [JSON.stringify(value)]],
    ['a field', ['title'], ['Tea']],
    ['a field from the root', ['$.title'], ['Tea']],
    ['numbers and booleans', ['cups', 'hot'], ['3', 'false']],
    ['a field of a field', ['meta.own key'], ['x']],
    ['an object or a list as JSON', ['meta.tags'], ['["green","black"]']],
    ['an element of a list', ['meta.tags[1]'], ['black']],
    ['the last element of a list', ['items[-1]', 'items[-2].text'], ['{"other":1}', 'second']],
    ['each element of a list', ['items[*].text', 'meta.tags[*]'], ['first', 'second', 'green', 'black']],
    ['each member of an object', ['meta.*'], ['["green","black"]', 'x']],
    ['several fields', ['{title, meta.tags[0]}', 'items[0].{text}'], ['Tea', 'green', 'first']],
    ['each text once', ['title', '$.title'], ['Tea']],
    ['no blank text, null or missing field', ['blank', 'none', 'title.no', 'items.text', 'title[0]', 'items[9]'], []],
    ['no inherited member', ['constructor', 'toString', '__proto__', 'items.length'], []],
  ])('are %s', (_, paths, texts) => expect(textsAt(value, paths, 1_000)).toEqual(texts));

  test('are none where they have more characters than may be embedded', () => {
    expect(textsAt(value, ['title', 'hot'], 5)).toBeUndefined();
    expect(textsAt(value, ['title', 'title'], 3)).toEqual(['Tea']);
  });

  test.each([
    '',
    'a..b',
    'a.',
    '$.',
    'a[',
    'a[x]',
    'a[1',
    'a]',
    '{a',
    '{}',
    '{a,}',
    '{a,{b}}',
    'a[*',
    '[1.5]',
    '{$}{a}{a}',
    'a'.repeat(201),
  ])('%j is no path', (path) => expect(readTextPath(path)).toBeUndefined());
});
