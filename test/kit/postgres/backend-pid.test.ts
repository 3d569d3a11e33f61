import { expect, test } from 'vitest';
import { backendPidReader } from '../../../src/kit/postgres/relay/fair-relay.ts';

const message = (type: string, ...numbers: number[]): Buffer => {
  const made = Buffer.alloc(5 + 4 * numbers.length);
  made.write(type);
  made.writeUInt32BE(4 + 4 * numbers.length, 1);
  numbers.forEach((number, at) => made.writeInt32BE(number, 5 + 4 * at));
  return made;
};

const greeting = Buffer.concat([message('R', 0), message('S', 1, 2), message('K', 4711, 99), message('Z')]);
const read = (...chunks: Buffer[]): (number | 'unknown' | undefined)[] => {
  const reader = backendPidReader();
  return chunks.map((chunk) => reader(chunk));
};

test.each([
  ['a greeting', [greeting], [4711]],
  ['a greeting after the refusal of TLS', [Buffer.from('N'), greeting], ['unknown', 4711]],
  ['an error', [message('E', 1)], [undefined]],
  ['a server that is ready without a key', [Buffer.concat([message('R', 0), message('Z')])], [undefined]],
  ['a length that is none', [Buffer.from([0x52, 0, 0, 0, 0])], ['unknown']],
  ['more than a greeting holds', [Buffer.alloc(70_000, 0x52)], [undefined]],
])('reads %s', (_, chunks, expected) => {
  expect(read(...chunks)).toEqual(expected);
});

test('reads a greeting that is cut anywhere', () => {
  for (let at = 1; at < greeting.length; at += 1) {
    const found = read(greeting.subarray(0, at), greeting.subarray(at));
    expect(found).toContain(4711);
  }
});
