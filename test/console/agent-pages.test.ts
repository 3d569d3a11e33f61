import { expect, test } from 'vitest';
import { compareKeys } from '../../src/console/parts/changes.ts';
import { readOptionalJsonObject, readPair } from '../../src/console/parts/json-text.ts';
import { nextFirings, timeIn } from '../../src/console/pages/crons/next-firings.ts';
import { readNamespace, toNamespaceTree } from '../../src/console/pages/store/namespace-tree.ts';

test('compares two values key by key, ignoring the order of nested keys', () => {
  const left = { same: { a: 1, b: [1, { c: null }] }, changed: [1, 2], gone: undefined, removed: 1 };
  const right = { changed: [2, 1], same: { b: [1, { c: null }], a: 1 }, gone: undefined, added: null };
  expect(compareKeys(left, right).map(({ key, kind }) => [key, kind])).toEqual([
    ['same', 'same'],
    ['changed', 'changed'],
    ['gone', 'same'],
    ['removed', 'removed'],
    ['added', 'added'],
  ]);
  expect(compareKeys(null, { a: 1 })).toEqual([{ key: 'a', kind: 'added', left: undefined, right: 1 }]);
  expect(compareKeys('text', { a: 1 })).toEqual([{ key: '', kind: 'changed', left: 'text', right: { a: 1 } }]);
  expect(compareKeys({ a: {} }, { a: [] })).toMatchObject([{ kind: 'changed' }]);
  // A key of every object's own is compared as any other.
  expect(compareKeys({}, { constructor: 1 })).toMatchObject([{ key: 'constructor', kind: 'added' }]);
});

test('reads what is typed: JSON objects, and pairs', () => {
  expect(readOptionalJsonObject(' ')).toEqual({ value: {} });
  expect(readOptionalJsonObject('[1]').problem).toMatch(/JSON object/);
  expect(readOptionalJsonObject('{ "a": ').problem).toMatch(/^This is not valid JSON/);
  expect(readPair('cups=3')).toEqual({ cups: 3 });
  expect(readPair(' user=ada = eve')).toEqual({ user: 'ada = eve' });
  expect(readPair('a sentence with = in it')).toBeUndefined();
});

test('makes a tree of namespaces, with those that only hold others', () => {
  const tree = toNamespaceTree([['users', 'bob'], ['a', 'b', 'c'], ['users'], ['users-2'], ['users', 'ada']]);
  expect(tree.map(({ label, depth }) => `${' '.repeat(depth)}${label}`)).toEqual([
    'a',
    ' b',
    '  c',
    'users',
    ' ada',
    ' bob',
    'users-2',
  ]);
  expect(readNamespace('["users","a/b"]')).toEqual(['users', 'a/b']);
  expect(['{}', '[1]', 'users', undefined].map(readNamespace)).toEqual([[], [], [], []]);
});

test('shows the next runs of a schedule in its zone, or what is wrong with it', () => {
  const now = Date.parse('2026-10-23T20:00:00Z');
  const { times = [] } = nextFirings({ schedule: '0 9 * * *', timezone: 'Europe/Berlin' }, now, 3);
  // Daylight saving ends on the 25th.
  expect(times.map((time) => new Date(time).toISOString())).toEqual([
    '2026-10-24T07:00:00.000Z',
    '2026-10-25T08:00:00.000Z',
    '2026-10-26T08:00:00.000Z',
  ]);
  expect(times.map((time) => timeIn('Europe/Berlin', time))[1]).toBe('Sun, 25 Oct 2026, 09:00');
  expect(timeIn('No/Zone', now)).toMatch(/20:00 UTC$/);
  expect(nextFirings({ schedule: '61 * * * *', timezone: null }, now).problem?.field).toBe('schedule');
  expect(nextFirings({ schedule: '@daily', timezone: 'Berlin' }, now).problem?.field).toBe('timezone');
  expect(nextFirings({ schedule: '0 0 30 2 *', timezone: null }, now)).toMatchObject({
    problem: { field: 'schedule' },
  });
});
