import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseText } from '../../../src/kit/diagnostics/parse.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

/** The value of a text, or its problems. */
function read(text: string): unknown {
  const parsed = parseText(text, 'it.yml');
  return parsed.ok ? parsed.value : parsed.problems.map(formatProblem);
}

test.each<[what: string, text: string, value: unknown]>([
  ['the fields of a map', 'a: &a { x: 1, y: 1 }\nb:\n  <<: *a\n  y: 2', { a: { x: 1, y: 1 }, b: { x: 1, y: 2 } }],
  ['below its own fields as well', 'a: &a { x: 1 }\nb:\n  x: 2\n  <<: *a', { a: { x: 1 }, b: { x: 2 } }],
  ['a map in its place', '<<: { x: 1 }\ny: 2', { x: 1, y: 2 }],
  [
    'a list, whose first maps win',
    'a: [&a { x: 1 }, &b { x: 2, y: 2 }]\nb: { <<: [*a, *b] }',
    { a: [{ x: 1 }, { x: 2, y: 2 }], b: { x: 1, y: 2 } },
  ],
  [
    'what a merged map merges',
    'a: &a { x: 1 }\nb: &b { <<: *a }\nc: { <<: *b }',
    { a: { x: 1 }, b: { x: 1 }, c: { x: 1 } },
  ],
  ['within the items of lists', 'a: &a { x: 1 }\nb: [{ <<: *a, y: 2 }]', { a: { x: 1 }, b: [{ x: 1, y: 2 }] }],
  ['nothing for a key in quotes', 'a: { "<<": { x: 1 } }', { a: { '<<': { x: 1 } } }],
])('a merge key merges %s', (_, text, value) => {
  expect(read(text)).toEqual(value);
  expect(parse(text, { merge: true })).toEqual(value);
});

test('a merged `__proto__` is a key like any other', () => {
  const parsed = parseText('a: &a\n  __proto__: { polluted: true }\nb:\n  <<: *a', 'it.yml');
  expect(parsed.ok).toBe(true);
  expect(JSON.stringify(parsed)).toContain('"b":{"__proto__":{"polluted":true}}');
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
});

const wrong = 'a merge key (`<<`) takes a map, an alias of one, or a list of these';
test.each<[what: string, text: string, problems: string[]]>([
  ['text', 'a:\n  <<: x', [`it.yml:2:3: ${wrong}`]],
  ['nothing', 'a:\n  <<:', [`it.yml:2:3: ${wrong}`]],
  ['an alias of text', 'a: &a x\nb:\n  <<: *a', [`it.yml:3:3: ${wrong}`]],
  ['a list with text', 'b:\n  <<: [{ x: 1 }, x]', [`it.yml:2:3: ${wrong}`]],
  ['the map that it stands in', 'a: &a\n  <<: *a', ['it.yml:2:7: this alias stands within what it names']],
  ['a map that comes later', 'a:\n  <<: *b\nb: &b { x: 1 }', ['it.yml:2:7: no anchor before this alias has its name']],
  ['twice', 'a: &a { x: 1 }\nb:\n  <<: *a\n  <<: *a', ['it.yml:4:3: `<<` is written twice']],
])('refuses to merge %s', (_, text, problems) => {
  expect(read(text)).toEqual(expect.arrayContaining(problems));
});

test('what is merged is found where it was written', () => {
  const text = 'a: &a\n  x: 1\n  list:\n    - y: 2\nb: &b\n  z: 3\nc:\n  <<: [*b, *a]\n  z: 4';
  const parsed = parseText(text, 'it.yml');
  if (!parsed.ok) throw new Error('it is right');
  expect(parsed.placeOfKey(['c', 'x'])).toEqual({ line: 2, column: 3 });
  expect(parsed.placeOf(['c', 'list', 0, 'y'])).toEqual({ line: 4, column: 10 });
  expect(parsed.placeOfKey(['c', 'z'])).toEqual({ line: 9, column: 3 });
  expect(parsed.placeOf(['c', 'none'])).toEqual({ line: 7, column: 1 });
});

const doubling = [
  'k0: &k0 { a: 1, b: 2 }',
  ...Array.from({ length: 45 }, (_, at) => `k${at + 1}: &k${at + 1} { c${at}: *k${at}, <<: [*k${at}] }`),
];
const listed = [
  'k0: &k0 { a: 1 }',
  ...Array.from({ length: 45 }, (_, at) => `k${at + 1}: &k${at + 1} { <<: [*k${at}, *k${at}] }`),
];
test.each<[what: string, text: string]>([
  ['merges that double what they merge', listed.join('\n')],
  ['merges and aliases that double it together', doubling.join('\n')],
  [
    'one large map that is merged a hundred times',
    `a: &a { ${Array.from({ length: 3_000 }, (_, at) => `k${at}: 1`).join(', ')} }\nb:\n${' - <<: *a\n'.repeat(99)}`,
  ],
])('quickly refuses %s', (_, text) => {
  const before = performance.now();
  expect(read(text)).toEqual([expect.stringContaining('the aliases of this text unfold to far more than was written')]);
  expect(performance.now() - before).toBeLessThan(2_000);
});
