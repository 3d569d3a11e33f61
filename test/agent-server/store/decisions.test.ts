import { describe, expect, test } from 'vitest';
import { MOST_CONDITIONS, readFilter } from '../../../src/agent-server/store/filter.ts';
import {
  keyProblem,
  labelsProblem,
  MOST_ADDRESS_BYTES,
  MOST_LABELS,
  namespaceProblem,
  rangeBelow,
} from '../../../src/agent-server/store/namespace.ts';
import { storeSettings } from '../../../src/agent-server/store/settings.ts';

describe('a namespace', () => {
  test.each<[string, unknown, RegExp]>([
    ['of ordinary labels is right', ['users', '42'], /^right$/],
    ['may have signs that mean something to a database', ['50%', 'a_b', 'c\\d', "e'f", 'g:h', '*'], /^right$/],
    ['may name the reserved word below its root', ['a', 'langgraph'], /^right$/],
    ['can not be empty', [], /can't be empty/],
    ['can not be a string', 'users', /list of strings/],
    ['has no empty label', ['a', ''], /can't be empty/],
    ['has no period in a label', ['a.b'], /period/],
    ['has no label that is a number', ['a', 1], /must be a string/],
    ['has no NUL in a label', ['a\0'], /NUL/],
    ['has no half of a surrogate pair in a label', ['a\ud800'], /surrogate/],
    ['does not begin with the reserved word', ['langgraph', 'a'], /"langgraph"/],
    ['has a greatest depth', Array.from({ length: MOST_LABELS + 1 }, () => 'a'), /at most 64 labels/],
  ])('%s', (_, namespace, problem) => {
    expect(namespaceProblem(namespace) ?? 'right').toMatch(problem);
  });

  test('may be left open where only its beginning or its end is asked for', () => {
    expect(labelsProblem([])).toBeUndefined();
    expect(labelsProblem(['langgraph'])).toBeUndefined();
  });

  test.each<[string, string[], { from: string[]; to: string[] } | undefined]>([
    ['every namespace lies below the root', [], undefined],
    ['a label ends where it ends', ['users', '1'], { from: ['users', '1'], to: ['users', '1\u0001'] }],
  ])('%s', (_, prefix, range) => expect(rangeBelow(prefix)).toEqual(range));
});

describe('a key', () => {
  test.each<[string, unknown, RegExp]>([
    ['may be any text', 'a.b/c d', /^right$/],
    ['can not be empty', '', /can't be empty/],
    ['can not be a number', 7, /must be a string/],
    ['can not hold NUL', 'a\0', /NUL/],
    ['is as long as its namespace lets it', 'k'.repeat(MOST_ADDRESS_BYTES - 2), /^right$/],
    ['is no longer', 'k'.repeat(MOST_ADDRESS_BYTES - 1), /at most 2000 bytes/],
  ])('%s', (_, key, problem) => {
    expect(keyProblem(key, ['ns']) ?? 'right').toMatch(problem);
  });
});

describe('a filter', () => {
  test.each<[string, Record<string, unknown>, object[]]>([
    ['without fields asks for nothing', {}, []],
    ['asks for equality by a value', { a: 1 }, [{ kind: 'equals', field: 'a', value: 1 }]],
    ['asks for equality by a list', { a: [1] }, [{ kind: 'equals', field: 'a', value: [1] }]],
    ['asks for a part of an object', { a: { b: 1 } }, [{ kind: 'contains', field: 'a', value: { b: 1 } }]],
    [
      'asks for all that its operators say',
      { a: { $gte: 1, $lt: 'z' }, b: { $ne: null } },
      [
        { kind: 'compares', field: 'a', comparison: '>=', value: 1 },
        { kind: 'compares', field: 'a', comparison: '<', value: 'z' },
        { kind: 'differs', field: 'b', value: null },
      ],
    ],
    [
      'knows lists and presence',
      { a: { $in: [1] }, b: { $nin: [2] }, c: { $exists: false } },
      [
        { kind: 'is-one-of', field: 'a', values: [1] },
        { kind: 'is-none-of', field: 'b', values: [2] },
        { kind: 'is-there', field: 'c', there: false },
      ],
    ],
    ['leaves out what is undefined, as JSON does', { a: undefined }, []],
  ])('%s', (_, filter, conditions) => expect(readFilter(filter)).toEqual({ ok: true, conditions }));

  test.each<[string, Record<string, unknown>, string[], RegExp]>([
    ['an operator that nobody knows', { a: { $near: 1 } }, ['a', '$near'], /no operator: there are \$eq/],
    ['a field among operators', { a: { $gt: 1, b: 2 } }, ['a', 'b'], /no operator/],
    ['a field that every object has', { a: { $gt: 1, constructor: 2 } }, ['a', 'constructor'], /no operator/],
    ['a comparison with a truth', { a: { $gt: true } }, ['a', '$gt'], /number or a string/],
    ['one of no list', { a: { $in: 1 } }, ['a', '$in'], /list/],
    [
      'more than it can be held to in time',
      Object.fromEntries(Array.from({ length: MOST_CONDITIONS + 1 }, (_, n) => [`field${n}`, n])),
      [],
      /more than 100 conditions/,
    ],
    ['presence that is no truth', { a: { $exists: 1 } }, ['a', '$exists'], /true or false/],
  ])('is refused for %s', (_, filter, path, problem) => {
    expect(readFilter(filter)).toMatchObject({ ok: false, path, problem: expect.stringMatching(problem) });
  });
});

describe('the settings of the store', () => {
  const hour = 60 * 60_000;
  test.each<[string, Parameters<typeof storeSettings>[0], object]>([
    [
      'without a word: items live for ever, and are looked after all the same',
      undefined,
      { defaultTtl: undefined, refreshOnRead: true, sweepEveryMs: hour },
    ],
    [
      'as the file says',
      { ttl: { default_ttl: 5, refresh_on_read: false, sweep_interval_minutes: 2 } },
      { defaultTtl: 5, refreshOnRead: false, sweepEveryMs: 120_000 },
    ],
    [
      'never in a hurry',
      { ttl: { sweep_interval_minutes: 0.0001 } },
      { defaultTtl: undefined, refreshOnRead: true, sweepEveryMs: 1_000 },
    ],
    [
      'and at least daily',
      { ttl: { sweep_interval_minutes: 1_000_000 } },
      { defaultTtl: undefined, refreshOnRead: true, sweepEveryMs: 24 * hour },
    ],
  ])('%s', (_, config, settings) => expect(storeSettings(config)).toEqual(settings));
});
