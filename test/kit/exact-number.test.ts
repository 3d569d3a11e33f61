import { expect, test } from 'vitest';
import { toPlainNumber, isExactNumber, parseExactly, toPlainNumbers } from '../../src/kit/exact-number.ts';
import { isObject } from '../../src/kit/json-object.ts';

test.each(['9007199254740993', '-9007199254740993', '1.0', '0.0', '-0.0', '12345678901234567890.5'])(
  'keeps %s as it was written, wherever it is',
  (number) => {
    const text = `{"a":[${number},{"b":${number}}],"${number}":"${number}"}`;
    const value = parseExactly(text);
    expect(JSON.stringify(value)).toBe(text);
    const kept = parseExactly(number);
    expect([isExactNumber(kept), isObject(kept), toPlainNumber(kept)]).toEqual([true, false, Number(number)]);
    expect(toPlainNumbers(value)).toEqual(JSON.parse(text));
  },
);

test.each(['0', '1', '-1', '0.5', '9007199254740991', '3.141592653589793', '1.5e-7', '"1.0"', 'null', '[]', '{"a":1}'])(
  'reads %s as JavaScript does',
  (text) => {
    expect(parseExactly(text)).toEqual(JSON.parse(text));
    expect(isExactNumber(parseExactly(text))).toBe(false);
  },
);

test.each([
  ['1e22', '10000000000000000000000.0'],
  ['1e+22', '10000000000000000000000.0'],
  ['1E+2', '100.0'],
  ['-2.5e1', '-25.0'],
])('keeps %s as a float whose exponent is written out', (number, kept) => {
  expect(JSON.stringify(parseExactly(`[${number}]`))).toBe(`[${kept}]`);
});

test('rounds a number that is too long for a database', () => {
  expect(JSON.stringify(parseExactly(`[1.${'0'.repeat(20_000)}]`))).toBe('[1]');
});

test('rejects invalid JSON, with such numbers and without', () => {
  for (const text of ['{"a":1.0', '{"a":1', '']) expect(() => parseExactly(text)).toThrow(SyntaxError);
});
