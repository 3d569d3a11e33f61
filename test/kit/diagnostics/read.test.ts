import { expect, test } from 'vitest';
import * as z from 'zod';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';
import { readWithPositions } from './read-with-positions.ts';

const schema = z.strictObject({
  name: z.string().min(1),
  kind: z.enum(['github', 'external_docker']).optional(),
  cpu: z.number().min(0.1).max(8).optional(),
  'build-on-push': z.boolean().optional(),
  list: z.array(z.strictObject({ path: z.string(), 'total-within': z.string().optional() })).optional(),
  where: z.union([z.string(), z.strictObject({ path: z.string() })]).optional(),
  id: z.uuid().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  free: z.record(z.string(), z.unknown()).optional(),
});

/** What a person would see, one line a problem. */
function seen(text: string, file = 'it.yml'): string[] {
  const read = readWithPositions(text, file, schema);
  return read.ok ? [] : read.problems.map(formatProblem);
}

test.each<[sentence: string, text: string, problems: string[]]>([
  ['a good text has no problem', 'name: a\ncpu: 1', []],
  [
    'an unknown key is reported at the key, with a suggestion',
    'name: a\nbuild-on-psh: true',
    ['it.yml:2:1: `build-on-psh` is not known; did you mean `build-on-push`?'],
  ],
  [
    'an underscore is a slip',
    'name: a\nbuild_on_push: true',
    ['it.yml:2:1: `build_on_push` is not known; did you mean `build-on-push`?'],
  ],
  [
    'an unknown key far from every known one has no suggestion',
    'name: a\nzebra: 1',
    ['it.yml:2:1: `zebra` is not known'],
  ],
  [
    'an unknown key in a list item is reported there',
    'name: a\nlist:\n  - path: x\n    total-withn: 5s',
    ['it.yml:4:5: `list[0].total-withn` is not known; did you mean `total-within`?'],
  ],
  [
    'an unknown key in one form of several is reported there',
    'name: a\nwhere:\n  pth: x',
    ['it.yml:2:1: `where.path` is missing', 'it.yml:3:3: `where.pth` is not known; did you mean `path`?'],
  ],
  ['a missing key is reported at its parent', 'cpu: 1\n', ['it.yml:1:1: `name` is missing']],
  [
    'a missing key in a list item is reported at the item',
    'name: a\nlist:\n  - total-within: 5s',
    ['it.yml:3:5: `list[0].path` is missing'],
  ],
  ['a wrong type is reported at the value', 'name: 5', ['it.yml:1:7: `name` must be text, not a number']],
  ['a list in place of text', 'name: [a]', ['it.yml:1:7: `name` must be text, not a list']],
  ['nothing in place of text', 'name:', ['it.yml:1:6: `name` must be text, not nothing']],
  ['a number out of its bounds', 'name: a\ncpu: 9', ['it.yml:2:6: `cpu` must be at most 8']],
  ['an empty text', 'name: ""', ['it.yml:1:7: `name` must not be empty']],
  [
    'a boolean of YAML 1.1',
    'name: a\nbuild-on-push: yes',
    ['it.yml:2:16: `build-on-push` must be `true` or `false`, not text'],
  ],
  [
    'a wrong word, with what was meant',
    'name: a\nkind: gitub',
    ['it.yml:2:7: `kind` must be one of `github`, `external_docker`; did you mean `github`?'],
  ],
  ['no uuid', 'name: a\nid: "12"', ['it.yml:2:5: `id` must be a uuid']],
  ['no form of several', 'name: a\nwhere: 5', ['it.yml:2:8: `where` must be text, or a map, not a number']],
  ['a label that is no text', 'name: a\nlabels: { a: 1 }', ['it.yml:2:14: `labels.a` must be text, not a number']],
  ['an empty text is no map', '', ['it.yml: this must be a map, not nothing']],
  [
    'every problem at once, in the order of the text',
    'nam: a\ncpu: 99\nkind: docker',
    [
      'it.yml:1:1: `name` is missing',
      'it.yml:1:1: `nam` is not known; did you mean `name`?',
      'it.yml:2:6: `cpu` must be at most 8',
      'it.yml:3:7: `kind` must be one of `github`, `external_docker`',
    ],
  ],
  ['a key that is written twice', 'name: a\nname: b', ['it.yml:2:1: `name` is written twice']],
  ['a key that is written twice further in', 'name: a\nfree: {b: 1, b: 2}', ['it.yml:2:14: `b` is written twice']],
  ['two faults of the syntax at once', 'name: "a\ncpu: @b', ['it.yml:2:8: missing closing "quote']],
  ['a tag', 'name: !Secret a', ['it.yml:1:7: tags (`!...`) are not read: remove this one']],
  ['a tab as indentation', 'name: a\nfree:\n\tb: 1', ['it.yml:3:1: tabs are not allowed as indentation']],
  ['an alias of nothing', 'name: *missing', ['it.yml:1:7: no anchor before this alias has its name']],
  ['an alias of itself', 'name: a\nfree: &x\n  y: *x', ['it.yml:3:6: this alias stands within what it names']],
  [
    'a second document',
    'name: a\n---\nname: b',
    ['it.yml:2:1: only one document is read: remove this `---` and what follows it'],
  ],
  ['infinity', 'name: a\ncpu: .inf', ['it.yml:2:6: infinity and "not a number" cannot be sent: write a number']],
  [
    'a number that would lose its last digits',
    'name: a\nfree: { id: 12345678901234567890 }',
    ['it.yml:2:13: this number is too large to be kept: put it in quotes'],
  ],
])('%s', (_, text, problems) => expect(seen(text)).toEqual(problems));

test.each<[sentence: string, text: string, problems: string[]]>([
  ['JSON with tabs is read', '{\n\t"name": "a",\n\t"cpu": 1\n}', []],
  ['a key twice', '{"name": "a",\n "name": "b"}', ['it.json:2:2: `name` is written twice']],
  ['a comment', '{\n  "name": "a" // why\n}', ['it.json:2:15: this is not JSON: it knows no comments']],
  ['a comment of YAML', '{\n  "name": "a" # why\n}', ['it.json:2:15: this is not JSON: it knows no comments']],
  [
    'a comma too many',
    '{\n  "name": "a",\n}',
    ['it.json:2:14: this is not JSON: no comma may stand before a closing bracket'],
  ],
  [
    'a comma too many in a list',
    '{"name": "a", "list": [1,]}',
    ['it.json:1:25: this is not JSON: no comma may stand before a closing bracket'],
  ],
  ['single quotes', '{\'name\': "a"}', ['it.json:1:2: this is not JSON: texts and keys stand in double quotes']],
  ['a bare word', '{"name": abc}', ['it.json:1:10: this is not JSON: texts and keys stand in double quotes']],
  ['YAML', 'name: a', ['it.json: this is not JSON: texts and keys stand in double quotes']],
  ['an empty text', '', ['it.json: this is not JSON: it ends too early']],
  ['no colon', '{"name" "a"}', ['it.json:1:9: this is not JSON: something else belongs here']],
])('JSON: %s', (_, text, problems) => expect(seen(text, 'it.json')).toEqual(problems));

test('a value is never echoed, whatever is wrong with it', () => {
  const canary = 'sk-canary-5f2a';
  const texts = [
    `name: [${canary}]`,
    `name: "${canary}`,
    `name: a\nkind: ${canary}`,
    `name: a\nid: ${canary}`,
    `name: a: ${canary}`,
    `name: |${canary}\n  x`,
    `name: !${canary} x`,
    `%${canary}\n---\nname: a`,
    `name: a\ncpu: ${canary}`,
    `@${canary}`,
    `name: a\n${canary}`,
    `name: a\n  ${canary}: b\n c`,
    `name: *${canary}`,
    `[${canary}`,
    `- ${canary}`,
    `{"name": ${canary}, }}`,
  ];
  for (const text of texts) {
    for (const file of ['it.yml', 'it.json']) {
      const lines = seen(text, file);
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.join('\n')).not.toContain('canary');
    }
  }
});

test('the places of a value that was read lead back into the text', () => {
  const read = readWithPositions(
    '# first\nname: a\nlist:\n  - path: x\n  - { path: y }\nwhere: &w\n  path: z\nfree:\n  w: *w\n',
    'it.yml',
    schema,
  );
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'));
  expect(read.placeOf(['name'])).toEqual({ line: 2, column: 7 });
  expect(read.placeOfKey(['name'])).toEqual({ line: 2, column: 1 });
  expect(read.placeOf(['list', 1, 'path'])).toEqual({ line: 5, column: 13 });
  expect(read.placeOfKey(['list', 1])).toEqual({ line: 5, column: 5 });
  expect(read.placeOf(['list', 7])).toEqual({ line: 3, column: 1 });
  expect(read.placeOf(['free', 'w', 'path'])).toEqual({ line: 7, column: 9 });
  expect(read.placeOf([])).toEqual({ line: 2, column: 1 });
});

test('a key that objects have anyway is a key like any other', () => {
  const read = readWithPositions('name: a\nfree:\n  __proto__: { polluted: true }\n  constructor: 1', 'it.yml', schema);
  expect(read.ok).toBe(true);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  expect(seen('name: a\nconstructor: 1')).toEqual(['it.yml:2:1: `constructor` is not known']);
});

const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...'bcdefghi'.split('').map((key, i) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`),
];

test.each<[what: string, text: string]>([
  ['aliases that unfold nine times at every step', bomb.join('\n')],
  ['a hundred thousand aliases', `a: &a x\nb: [${'*a,'.repeat(80_000)}]`],
  ['as many anchors as aliases', `a: [${Array.from({ length: 5000 }, (_, i) => `&k${i} x, *k${i}`).join(',')}]`],
  ['brackets that nest without end', '['.repeat(50_000)],
  ['lists that nest without end', '- '.repeat(50_000)],
  ['tens of thousands of faults', '"a" '.repeat(30_000)],
  ['a text of a million characters', 'x'.repeat(1_000_000)],
])('quickly refuses a hostile text: %s', (_, text) => {
  const lines = seen(text);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThanOrEqual(101);
});

test('six thousand keys are read at once', () => {
  const text = `name: a\nfree:\n${Array.from({ length: 6_000 }, (_, i) => ` k${i}: 1`).join('\n')}`;
  expect(seen(text)).toEqual([]);
});
