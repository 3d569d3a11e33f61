import { describe, expect, test } from 'vitest';
import {
  decodeRecords,
  encodeRecords,
  samePins,
  withRecord,
  type CommandRecord,
} from '../../../src/deploy/commands/records.ts';

const record = (commentId: number, over: Partial<CommandRecord> = {}): CommandRecord => ({
  commentId,
  by: 'mona',
  text: '/deploy größer 漢字 -->',
  takenAt: 1_000,
  ...over,
});
const ended = { pins: { commit: 'a'.repeat(40) }, end: { code: 'ran', isDone: true, line: 'Deployed.' } };

test('records are read as they were written', () => {
  const records = [record(2, ended), record(1)];
  const written = encodeRecords(records);
  expect(written).toMatch(/^[A-Za-z0-9+/=]+$/);
  expect(decodeRecords(written)).toEqual(records);
});

test('the newest stand first, each once, and the oldest are dropped', () => {
  let records: CommandRecord[] = [];
  for (const id of [3, 1, 2, 3]) records = withRecord(records, record(id));
  expect(records.map(({ commentId }) => commentId)).toEqual([3, 2, 1]);
  for (let id = 10; id < 100; id += 1) records = withRecord(records, record(id));
  expect(records).toHaveLength(40);
  expect(records[0]?.commentId).toBe(99);
});

test('of older ones only what keeps them from being done again is kept', () => {
  const line = 'x'.repeat(5_000);
  const records = Array.from({ length: 40 }, (_, index) =>
    record(100 - index, { ...ended, text: line, end: { ...ended.end, line } }),
  );
  const written = encodeRecords(records);
  expect(written.length).toBeLessThan(16_000);
  const read = decodeRecords(written);
  expect(read.map(({ end, pins }) => [end?.code, pins])).toEqual(records.map(() => ['ran', ended.pins]));
  expect(read[0]?.text).toHaveLength(300);
  expect(read.at(-1)?.text).toBe('');
});

describe('what a person wrote in their place', () => {
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
  test.each([
    ['nothing', ''],
    ['no Base64', '!!'],
    ['no JSON', Buffer.from('{').toString('base64')],
    ['no list', encoded({})],
    ['other values', encoded([null, 1, 'x', {}, { commentId: '1' }, { ...record(1), takenAt: 1e300 }])],
    ['an end without its code', encoded([{ ...record(1), end: { isDone: true, line: '' } }])],
  ])('%s is passed over', (_, written) => expect(decodeRecords(written)).toEqual([]));

  test('pins that are no texts are none', () => {
    expect(decodeRecords(encoded([{ ...record(1), pins: { a: 1, b: 'x' } }]))).toEqual([
      record(1, { pins: { b: 'x' } }),
    ]);
  });
});

test.each([
  [{ a: 'x' }, { a: 'x' }, true],
  [{ a: 'x' }, { a: 'y' }, false],
  [{ a: 'x' }, {}, false],
  [{}, { a: 'x' }, false],
])('pins %j and %j are the same: %s', (before, now, expected) => expect(samePins(before, now)).toBe(expected));
