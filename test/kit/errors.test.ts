import { describe, expect, test } from 'vitest';
import { stackOf } from '../../src/kit/errors.ts';

/** The lines of a stack without its places. */
const linesOf = (error: unknown): string[] =>
  stackOf(error)
    .split('\n')
    .filter((line) => !line.startsWith('    at '));

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });

describe('stackOf', () => {
  test.each([
    ['an error', new TypeError('no'), ['TypeError: no']],
    [
      'its causes',
      new Error('a', { cause: new TypeError('b', { cause: refused }) }),
      ['Error: a', 'Caused by: TypeError: b', 'Caused by: Error: connect ECONNREFUSED 127.0.0.1:1'],
    ],
    [
      'a cause that is data',
      new Error('a', { cause: { code: 'denied' } }),
      ['Error: a', 'Caused by: {"code":"denied"}'],
    ],
    ['a cause that is text', new Error('a', { cause: 'b' }), ['Error: a', 'Caused by: b']],
    [
      'each of several attempts',
      new TypeError('fetch failed', { cause: new AggregateError([refused, refused], '') }),
      [
        'TypeError: fetch failed',
        'Caused by: AggregateError: ',
        '  - connect ECONNREFUSED 127.0.0.1:1',
        '  - connect ECONNREFUSED 127.0.0.1:1',
      ],
    ],
    ['a name once', new Error(String(new Error('no'))), ['Error: no']],
    ['a message that begins with another name', new Error('TypeError: no'), ['Error: TypeError: no']],
    ['what is no error', 'no', ['no']],
    ['an object that is no error', { a: 1 }, ['{"a":1}']],
  ])('shows %s', (_, error, lines) => {
    expect(linesOf(error)).toEqual(lines);
  });

  test('ends at a cause that was shown before', () => {
    const ring = new Error('a');
    ring.cause = new Error('b', { cause: ring });
    expect(linesOf(ring)).toEqual(['Error: a', 'Caused by: Error: b']);
  });

  test('shows ten errors of a longer chain', () => {
    const long = Array.from({ length: 20 }).reduce<Error>((cause) => new Error('x', { cause }), new Error('x'));
    expect(linesOf(long)).toHaveLength(10);
  });
});
