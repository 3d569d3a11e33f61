import { describe, expect, test } from 'vitest';
import { boundedCopy, minCopyBytes } from '../../../../src/services/agent/tracing/bounded-copy.ts';

const cycle: Record<string, unknown> = { name: 'loop' };
cycle['self'] = cycle;
const message = { id: 'm', toDict: () => ({ type: 'ai', data: { content: 'yes' } }) };

describe('a copy of a value', () => {
  test.each([
    ['of plain data is equal', { a: [1, 'x', true, null], b: { c: 0.5 } }, { a: [1, 'x', true, null], b: { c: 0.5 } }],
    ['has messages in the form of the API', [message], [{ type: 'ai', content: 'yes' }]],
    [
      'has what JSON has',
      { a: undefined, b: () => 1, c: 1n, d: Number.NaN, e: new Date(0) },
      { c: '1', d: null, e: '1970-01-01T00:00:00.000Z' },
    ],
    [
      'has texts of any language',
      { 'clé “é”': ['日本', 'plain', '\u{1F600}"'.repeat(50)] },
      { 'clé “é”': ['日本', 'plain', '\u{1F600}"'.repeat(50)] },
    ],
    [
      'may be made while another one is',
      { a: 'x'.repeat(50), b: { toJSON: () => boundedCopy({ c: [1, 'y'.repeat(90)] }, 500).json.length }, d: 1 },
      { a: 'x'.repeat(50), b: 102, d: 1 },
    ],
    ['has no bytes', { a: new Uint8Array(9) }, { a: '<9 bytes>' }],
    ['has no text that Postgres refuses', { 'k\0': 'a\0\ud800' }, { 'k\uFFFD': 'a\uFFFD\uFFFD' }],
    [
      'has a key like any other for __proto__',
      JSON.parse('{"__proto__":{"x":1}}'),
      JSON.parse('{"__proto__":{"x":1}}'),
    ],
    ['of nothing is null', undefined, null],
  ])('%s', (_, value, copy) => {
    const made = boundedCopy(value, 1000);
    expect(made).toMatchObject({ json: JSON.stringify(copy), isCut: false });
    expect(made.size).toBeGreaterThanOrEqual(Buffer.byteLength(made.json));
  });

  test.each([
    ['a long text', { text: 'x'.repeat(5000) }],
    ['a text that grows in JSON', { text: '"\n€'.repeat(3000) }],
    ['many items', Array.from({ length: 10_000 }, (_, index) => index)],
    ['many members', Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, null]))],
    ['many texts', Array.from({ length: 500 }, (_, length) => '"é'.repeat(length))],
    [
      'nested texts',
      [[[[['\u0001'.repeat(400), 'é'.repeat(400)], 'x'.repeat(400)], { key: 'x'.repeat(400) }], null], 1n],
    ],
    ['a cycle', cycle],
  ])('of %s is cut at the bound', (_, value) => {
    for (let bound = 980; bound <= 1_000; bound += 1) {
      const { json, isCut, size } = boundedCopy(value, bound);
      expect(isCut).toBe(true);
      expect(JSON.parse(json)).toBeTruthy();
      expect(Buffer.byteLength(json)).toBeLessThanOrEqual(size);
      expect(size).toBeLessThanOrEqual(bound);
    }
  });

  test.each([['x'.repeat(100)], [[1]], [{ a: 1 }], [12_345_678], [null]])('of %j has the smallest bound', (value) => {
    const { json, size } = boundedCopy(value, minCopyBytes);
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(size);
    expect(size).toBeLessThanOrEqual(minCopyBytes);
  });

  test('of a value that throws when read is null', () => {
    const value = {
      get broken() {
        throw new Error('no');
      },
    };
    expect(boundedCopy(value, 1000)).toEqual({ json: 'null', size: 4, isCut: true });
  });

  test('reads no more of a large value than it keeps', () => {
    let read = 0;
    const items = new Proxy(
      Array.from({ length: 100_000 }, () => 'item'),
      {
        get(target, key, receiver) {
          read += 1;
          return Reflect.get(target, key, receiver);
        },
      },
    );
    boundedCopy(items, 1000);
    expect(read).toBeLessThan(2000);
  });
});
