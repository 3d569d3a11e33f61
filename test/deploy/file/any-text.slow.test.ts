import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readDesired, type RequestInput } from '../../../src/deploy/file/read-desired.ts';

const names = [
  'deployments',
  'name',
  'source',
  'repo-ref',
  'secrets',
  'resource-spec',
  'smoke-tests',
  'cases',
  'input',
  'inputs',
  'outputs',
  'vars',
  'assert',
  'type',
  'tests',
  'min-scale',
  'expect',
  'values',
  'path',
  'schema',
  'in-order',
  '__proto__',
  'toString',
];
const words = ['github', 'external_docker', 'main', '$.a', '^a', '5s', 'PORT', '', '\u0000'];
const key = fc.oneof(fc.constantFrom(...names), fc.string());
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(...words),
    fc.boolean(),
    fc.double(),
    fc.constant(null),
    tie('list'),
    tie('map'),
  ),
  list: fc.array(tie('any'), { maxLength: 4 }),
  map: fc.dictionary(key, tie('any'), { maxKeys: 6 }),
})).map;

/** Whatever is read, it is read or refused with places that are in the text. */
const holds = (text: string): boolean =>
  isRead(text, { inputs: { 'smoke-tests': text, secrets: text }, file: { text, path: 'f.yml' }, env: {} });

function isRead(text: string, requested: RequestInput): boolean {
  const result = readDesired({ ...requested, cases: { read: () => ({ text }) } });
  const lines = text.split('\n').length;
  const problems = result.ok ? [] : result.problems;
  return problems.every(({ line, column, message }) => line >= 1 && line <= lines && column >= 1 && message !== '');
}

const runs = { numRuns: 150 };

test('any text is read or refused, never thrown at', () => {
  const texts = fc.string({ unit: 'binary', maxLength: 200 });
  expect(fc.check(fc.property(texts, holds), runs)).toMatchObject({ failed: false });
});

test('any value is read or refused, never thrown at', () => {
  const files = fc.oneof(value, fc.record({ deployments: fc.record({ a: value }) }));
  expect(
    fc.check(
      fc.property(
        files.map((any) => stringify(any)),
        holds,
      ),
      runs,
    ),
  ).toMatchObject({ failed: false });
});

test('any file of cases is read or refused, never thrown at', () => {
  const test = { name: 't', assistant: 'a', input: '{{a}}', cases: 'c' };
  const file = { text: JSON.stringify({ name: 'a', source: 'github', 'smoke-tests': [test] }), path: 'f.yml' };
  const rows = fc.array(
    fc.oneof(value, fc.record({ vars: value, assert: fc.array(value) }), fc.record({ inputs: value, outputs: value })),
    { maxLength: 4 },
  );
  const files = rows.map((each) => stringify(each));
  const lines = rows.map((each) => each.map((row) => JSON.stringify(row)).join('\n'));
  const texts = fc.oneof(files, lines, fc.string({ unit: 'binary', maxLength: 200 }));
  expect(
    fc.check(
      fc.property(texts, (cases) => isRead(cases, { inputs: {}, file })),
      runs,
    ),
  ).toMatchObject({ failed: false });
});
