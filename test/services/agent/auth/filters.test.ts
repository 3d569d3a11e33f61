import { describe, expect, test } from 'vitest';
import { matches, narrow, parseFilter } from '../../../../src/services/agent/auth/filters.ts';

describe("a handler's filter", () => {
  test.each<[string, object, object]>([
    ['a value', { owner: 'ada' }, { owner: 'ada' }],
    ['a value with $eq', { owner: { $eq: 'ada' } }, { owner: 'ada' }],
    ['an item of a list', { members: { $contains: 'ada' } }, { members: ['ada'] }],
    ['several items', { members: { $contains: ['ada', 'bob'] } }, { members: ['ada', 'bob'] }],
    ['nothing for an empty filter', {}, {}],
  ])('requires %s', (_, filters, wanted) => {
    expect(parseFilter(filters)).toEqual(wanted);
  });

  test.each<[string, object]>([
    ['an unknown operator', { owner: { $ne: 'ada' } }],
    ['two operators', { owner: { $eq: 'ada', $contains: 'ada' } }],
    ['an object', { owner: { name: 'ada' } }],
    ['a list', { owner: ['ada'] }],
    ['undefined', { owner: undefined }],
    ['$eq with an object', { owner: { $eq: { name: 'ada' } } }],
  ])('rejects %s', (_, filters) => {
    expect(() => parseFilter(filters)).toThrow('The filter of "owner"');
  });
});

describe('metadata', () => {
  test.each<[boolean, string, Record<string, unknown>, object]>([
    [true, 'has the value', { owner: 'ada', more: 1 }, { owner: 'ada' }],
    [false, 'has another value', { owner: 'bob' }, { owner: 'ada' }],
    [false, 'lacks the field', {}, { owner: 'ada' }],
    [false, 'matches one of two fields', { owner: 'ada', team: 'x' }, { owner: 'ada', team: 'y' }],
    [true, 'has the item in its list', { members: ['bob', 'ada'] }, { members: { $contains: 'ada' } }],
    [false, 'lacks one of the items', { members: ['ada'] }, { members: { $contains: ['ada', 'bob'] } }],
    [false, 'has a string instead of a list', { members: 'ada' }, { members: { $contains: 'ada' } }],
    [true, 'has an empty filter', {}, {}],
  ])('passes (%s) when it %s', (through, _, metadata, filters) => {
    expect(matches(metadata, parseFilter(filters))).toBe(through);
  });
});

describe('narrowing', () => {
  test.each<[string, Record<string, unknown>, object, object | undefined]>([
    ['has no filter of its own', {}, { owner: 'ada' }, { owner: 'ada' }],
    ['filters by another field', { topic: 'x' }, { owner: 'ada' }, { topic: 'x', owner: 'ada' }],
    ['filters by the same value', { owner: 'ada' }, { owner: 'ada' }, { owner: 'ada' }],
    ['filters by another user’s value', { owner: 'bob' }, { owner: 'ada' }, undefined],
    [
      'filters by other list items',
      { members: ['bob'] },
      { members: { $contains: 'ada' } },
      { members: ['bob', 'ada'] },
    ],
    ['filters by a list instead of a value', { owner: ['ada'] }, { owner: 'ada' }, undefined],
    ['filters by null', { owner: null }, { owner: 'ada' }, undefined],
  ])('narrows a search that %s', (_, requested, filters, metadata) => {
    expect(narrow(requested, parseFilter(filters))).toEqual(metadata);
  });
});
