import { types } from 'pg';
import { describe, expect, test } from 'vitest';
import { parseByteArrays, typeParsers } from '../../../src/kit/postgres/byte-arrays.ts';
import { cpuOf } from '../../fuzz/cpu.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

const byteArrays: number = 1001;
const theirs: (text: string) => unknown = types.getTypeParser(byteArrays);
const ours: (text: string) => unknown = typeParsers().getTypeParser(byteArrays, 'text');

describe('parseByteArrays', () => {
  test.each([
    ['an empty array', '{}', []],
    ['bytes', String.raw`{"\\x6162","\\x"}`, [bytes('ab'), bytes('')]],
    [
      'arrays in an array, with null',
      String.raw`{{"\\x61","\\x656d707479",NULL},{"\\x62","\\x6a736f6e","\\x7b7d"}}`,
      [
        [bytes('a'), bytes('empty'), null],
        [bytes('b'), bytes('json'), bytes('{}')],
      ],
    ],
  ])('reads %s as the driver does', (_, text, expected) => {
    expect(parseByteArrays(text)).toEqual(expected);
    expect(theirs(text)).toEqual(expected);
  });

  test.each([
    ['bytes that are escaped', '{ab,"c,d"}'],
    ['lower bounds', String.raw`[0:0]={"\\x61"}`],
    ['a text that ends early', String.raw`{"\\x61`],
    ['an array that is not closed', String.raw`{"\\x61"`],
    ['a text after the array', String.raw`{"\\x61"}}`],
  ])('leaves %s to the driver', (_, text) => {
    expect(parseByteArrays(text)).toBeUndefined();
  });
});

test('connections have the driver’s own parsers for all other types', () => {
  const others: number[] = [16, 17, 20, 23, 114, 1009, 1184, 3802];
  for (const oid of others) {
    expect(typeParsers().getTypeParser(oid, 'text')).toBe(types.getTypeParser(oid, 'text'));
  }
  expect(typeParsers().getTypeParser(byteArrays, 'binary')).toBe(types.getTypeParser(byteArrays, 'binary'));
});

test('what the driver alone can read is read by it', () => {
  expect(ours('{ab,"c,d"}')).toEqual([bytes('ab'), bytes('c,d')]);
});

test('a megabyte is read with a tenth of the CPU time of the driver’s parser', () => {
  const text = `{{${String.raw`"\\x`}${'61'.repeat(1_000_000)}"}}`;
  expect(cpuOf(() => ours(text))).toBeLessThan(cpuOf(() => theirs(text), 1) / 10);
});
