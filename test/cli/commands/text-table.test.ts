import { describe, expect, test } from 'vitest';
import { ageText, type Column, jsonRows, tableLines } from '../../../src/cli/commands/text-table.ts';

interface Row {
  name: string;
  note: string | null;
}
const columns: readonly Column<Row>[] = [
  { field: 'name', heading: 'NAME', value: ({ name }) => name, isCut: true },
  { field: 'length', value: ({ name }) => name.length },
  { field: 'note', heading: 'NOTE', value: ({ note }) => note, leftOut: 1 },
];
const now = Date.parse('2026-01-31T12:00:00Z');
const rows: Row[] = [
  { name: 'a', note: 'first' },
  { name: 'a-deployment-with-a-long-name', note: null },
];

describe('a table', () => {
  test.each([
    [
      'shows all where the output is no terminal',
      undefined,
      ['NAME                           NOTE', 'a                              first', 'a-deployment-with-a-long-name'],
    ],
    [
      'cuts what may be cut to the width',
      25,
      ['NAME                NOTE', 'a                   first', 'a-deployment-with…'],
    ],
    ['leaves out a column where that does not do', 15, ['NAME', 'a', 'a-deploymen…']],
  ])('%s', (_, width, lines) => {
    expect(tableLines(columns, rows, { width, now })).toEqual(lines);
  });

  test('leaves out a column in which no row has anything', () => {
    expect(tableLines(columns, [{ name: 'a', note: null }], { width: undefined, now })).toEqual(['NAME', 'a']);
  });

  test('shows text of others as one line without control sequences', () => {
    const [, line] = tableLines(columns, [{ name: '\u001b[31mred\nnext', note: null }], { width: undefined, now });
    expect(line).toBe('red next');
  });
});

test('the JSON of a row has every field, whatever the table shows', () => {
  expect(jsonRows(columns, rows)[1]).toEqual({ name: 'a-deployment-with-a-long-name', length: 29, note: null });
});

test.each([
  ['2026-01-31T11:59:48Z', '12 s'],
  ['2026-01-31T11:55:00Z', '5 min'],
  ['2026-01-31T09:00:00Z', '3 h'],
  ['2026-01-22T12:00:00Z', '9 d'],
  ['2026-01-31T12:00:05Z', '0 s'],
  ['soon', ''],
  [null, ''],
])('the age of %s is %j', (at, age) => {
  expect(ageText(at, now)).toBe(age);
});
