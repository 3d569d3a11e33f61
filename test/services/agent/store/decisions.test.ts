import { describe, expect, test } from 'vitest';
import { maxConditions, readFilter } from '../../../../src/services/agent/store/filter.ts';
import {
  keyProblem,
  labelsProblem,
  maxAddressBytes,
  maxLabels,
  namespaceProblem,
  rangeBelow,
} from '../../../../src/services/agent/store/namespace.ts';
import { storeSettings } from '../../../../src/services/agent/store/items.ts';

describe('a namespace', () => {
  test.each<[string, unknown, RegExp]>([
    ['of ordinary labels is valid', ['users', '42'], /^right$/],
    ['may contain characters that are special to a database', ['50%', 'a_b', 'c\\d', "e'f", 'g:h', '*'], /^right$/],
    ['may use the reserved word below its root', ['a', 'langgraph'], /^right$/],
    ['can’t be empty', [], /can't be empty/],
    ['can’t be a string', 'users', /list of strings/],
    ['rejects an empty label', ['a', ''], /can't be empty/],
    ['rejects a period in a label', ['a.b'], /period/],
    ['rejects a number as a label', ['a', 1], /must be a string/],
    ['rejects NUL in a label', ['a\0'], /NUL/],
    ['rejects a lone surrogate in a label', ['a\ud800'], /surrogate/],
    ['rejects the reserved word as its root', ['langgraph', 'a'], /"langgraph"/],
    ['has a maximum depth', Array.from({ length: maxLabels + 1 }, () => 'a'), /at most 64 labels/],
  ])('%s', (_, namespace, problem) => {
    expect(namespaceProblem(namespace) ?? 'right').toMatch(problem);
  });

  test('as a prefix or suffix may be empty', () => {
    expect(labelsProblem([])).toBeUndefined();
    expect(labelsProblem(['langgraph'])).toBeUndefined();
  });

  test.each<[string, string[], { from: string[]; to: string[] } | undefined]>([
    ['the root includes every namespace', [], undefined],
    ['a label is matched as a whole', ['users', '1'], { from: ['users', '1'], to: ['users', '1\u0001'] }],
  ])('%s', (_, prefix, range) => expect(rangeBelow(prefix)).toEqual(range));
});

describe('a key', () => {
  test.each<[string, unknown, RegExp]>([
    ['may be any text', 'a.b/c d', /^right$/],
    ['can’t be empty', '', /can't be empty/],
    ['can’t be a number', 7, /must be a string/],
    ['can’t contain NUL', 'a\0', /NUL/],
    ['has a maximum length with its namespace', 'k'.repeat(maxAddressBytes - 2), /^right$/],
    ['is rejected beyond it', 'k'.repeat(maxAddressBytes - 1), /at most 2000 bytes/],
  ])('%s', (_, key, problem) => {
    expect(keyProblem(key, ['ns']) ?? 'right').toMatch(problem);
  });
});

describe('a filter', () => {
  test.each<[string, Record<string, unknown>, object[]]>([
    ['without fields has no conditions', {}, []],
    ['matches a value by equality', { a: 1 }, [{ kind: 'equals', field: 'a', value: 1 }]],
    ['matches a list by equality', { a: [1] }, [{ kind: 'equals', field: 'a', value: [1] }]],
    ['matches a part of an object', { a: { b: 1 } }, [{ kind: 'contains', field: 'a', value: { b: 1 } }]],
    [
      'combines several operators',
      { a: { $gte: 1, $lt: 'z' }, b: { $ne: null } },
      [
        { kind: 'compares', field: 'a', comparison: '>=', value: 1 },
        { kind: 'compares', field: 'a', comparison: '<', value: 'z' },
        { kind: 'differs', field: 'b', value: null },
      ],
    ],
    [
      'supports lists and presence',
      { a: { $in: [1] }, b: { $nin: [2] }, c: { $exists: false } },
      [
        { kind: 'is-one-of', field: 'a', values: [1] },
        { kind: 'is-none-of', field: 'b', values: [2] },
        { kind: 'is-there', field: 'c', there: false },
      ],
    ],
    ['ignores undefined fields, like JSON', { a: undefined }, []],
  ])('%s', (_, filter, conditions) => expect(readFilter(filter)).toEqual({ ok: true, conditions }));

  test.each<[string, Record<string, unknown>, string[], RegExp]>([
    ['an unknown operator', { a: { $near: 1 } }, ['a', '$near'], /no operator: there are \$eq/],
    ['a field among operators', { a: { $gt: 1, b: 2 } }, ['a', 'b'], /no operator/],
    ['a field that every object has', { a: { $gt: 1, constructor: 2 } }, ['a', 'constructor'], /no operator/],
    ['a comparison with a boolean', { a: { $gt: true } }, ['a', '$gt'], /number or a string/],
    ['$in without a list', { a: { $in: 1 } }, ['a', '$in'], /list/],
    [
      'too many conditions',
      Object.fromEntries(Array.from({ length: maxConditions + 1 }, (_, n) => [`field${n}`, n])),
      [],
      /more than 100 conditions/,
    ],
    ['$exists without a boolean', { a: { $exists: 1 } }, ['a', '$exists'], /true or false/],
  ])('rejects %s', (_, filter, path, problem) => {
    expect(readFilter(filter)).toMatchObject({ ok: false, path, problem: expect.stringMatching(problem) });
  });
});

describe('the settings of the store', () => {
  const hour = 60 * 60_000;
  test.each<[string, Parameters<typeof storeSettings>[0], object]>([
    [
      'by default: items never expire, and are swept all the same',
      undefined,
      { defaultTtl: undefined, refreshOnRead: true, sweepEveryMs: hour },
    ],
    [
      'as configured',
      { ttl: { default_ttl: 5, refresh_on_read: false, sweep_interval_minutes: 2 } },
      { defaultTtl: 5, refreshOnRead: false, sweepEveryMs: 120_000 },
    ],
    [
      'with a minimum interval',
      { ttl: { sweep_interval_minutes: 0.0001 } },
      { defaultTtl: undefined, refreshOnRead: true, sweepEveryMs: 1_000 },
    ],
    [
      'with a maximum interval of a day',
      { ttl: { sweep_interval_minutes: 1_000_000 } },
      { defaultTtl: undefined, refreshOnRead: true, sweepEveryMs: 24 * hour },
    ],
  ])('%s', (_, config, settings) => expect(storeSettings(config)).toEqual(settings));
});
