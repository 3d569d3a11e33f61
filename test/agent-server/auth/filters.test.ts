import { describe, expect, test } from 'vitest';
import { holds, narrowed, wantedBy } from '../../../src/agent-server/auth/filters.ts';

describe('what a handler answers with', () => {
  test.each<[string, object, object]>([
    ['a value', { owner: 'ada' }, { owner: 'ada' }],
    ['a value in words', { owner: { $eq: 'ada' } }, { owner: 'ada' }],
    ['an item of a list', { members: { $contains: 'ada' } }, { members: ['ada'] }],
    ['several items', { members: { $contains: ['ada', 'bob'] } }, { members: ['ada', 'bob'] }],
    ['nothing at all', {}, {}],
  ])('wants %s', (_, filters, wanted) => {
    expect(wantedBy(filters)).toEqual(wanted);
  });

  test.each<[string, object]>([
    ['an operator that nobody knows', { owner: { $ne: 'ada' } }],
    ['two operators', { owner: { $eq: 'ada', $contains: 'ada' } }],
    ['a map', { owner: { name: 'ada' } }],
    ['a list', { owner: ['ada'] }],
    ['no value', { owner: undefined }],
    ['a map to be the same as', { owner: { $eq: { name: 'ada' } } }],
  ])('is not understood as %s, and lets nothing through', (_, filters) => {
    expect(() => wantedBy(filters)).toThrow('The filter of "owner"');
  });
});

describe('metadata', () => {
  test.each<[boolean, string, Record<string, unknown>, object]>([
    [true, 'has the value', { owner: 'ada', more: 1 }, { owner: 'ada' }],
    [false, 'has another value', { owner: 'bob' }, { owner: 'ada' }],
    [false, 'has none', {}, { owner: 'ada' }],
    [false, 'has one of two', { owner: 'ada', team: 'x' }, { owner: 'ada', team: 'y' }],
    [true, 'has the item in its list', { members: ['bob', 'ada'] }, { members: { $contains: 'ada' } }],
    [false, 'lacks one of the items', { members: ['ada'] }, { members: { $contains: ['ada', 'bob'] } }],
    [false, 'has the item in no list', { members: 'ada' }, { members: { $contains: 'ada' } }],
    [true, 'is asked nothing', {}, {}],
  ])('is let through (%s) where it %s', (through, _, metadata, filters) => {
    expect(holds(metadata, wantedBy(filters))).toBe(through);
  });
});

describe('a search', () => {
  test.each<[string, Record<string, unknown>, object, object | undefined]>([
    ['asks nothing', {}, { owner: 'ada' }, { owner: 'ada' }],
    ['asks for something else', { topic: 'x' }, { owner: 'ada' }, { topic: 'x', owner: 'ada' }],
    ['asks for the same', { owner: 'ada' }, { owner: 'ada' }, { owner: 'ada' }],
    ['asks for what is not the caller’s', { owner: 'bob' }, { owner: 'ada' }, undefined],
    ['asks for other items', { members: ['bob'] }, { members: { $contains: 'ada' } }, { members: ['bob', 'ada'] }],
    ['asks for a list where a value is wanted', { owner: ['ada'] }, { owner: 'ada' }, undefined],
    ['asks for nothing there where a value is wanted', { owner: null }, { owner: 'ada' }, undefined],
  ])('that %s is narrowed', (_, requested, filters, metadata) => {
    expect(narrowed(requested, wantedBy(filters))).toEqual(metadata);
  });
});
