import { expect, test } from 'vitest';
import { encodeFrame, FrameReader, ProtocolError } from '../../../../../src/services/agent/graphs/python/frames.ts';
import { randomFrom } from '../../../../random-from.ts';

const frames = [
  { header: { kind: 'ask', id: 1, args: { text: 'Grüße, 世界' } }, attachments: [] },
  { header: { kind: 'done', id: 2 }, attachments: [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(70_000, 7)] },
  { header: {}, attachments: [Buffer.from([0, 255])] },
];

const shown = ({ header, attachments }: { header: object; attachments: readonly Uint8Array[] }) => ({
  header,
  attachments: attachments.map((each) => Buffer.from(each).toString('hex')),
});

test('frames are found however the stream is cut', () => {
  const bytes = Buffer.concat(frames.map(encodeFrame));
  const random = randomFrom(28);
  for (let turn = 0; turn < 50; turn += 1) {
    const reader = new FrameReader();
    const found = [];
    for (let at = 0; at < bytes.byteLength;) {
      const size = Math.ceil(random() ** 4 * 80_000);
      found.push(...reader.push(bytes.subarray(at, at + size)));
      at += size;
    }
    expect(found.map(shown)).toEqual(frames.map(shown));
  }
});

const framed = (length: number, headerLength: number, text: string): Buffer => {
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(length, 0);
  lengths.writeUInt32BE(headerLength, 4);
  return Buffer.concat([lengths, Buffer.from(text)]);
};

test.each([
  ['a length beyond 1 GiB', framed(2 ** 31, 0, '')],
  ['a length without room for a header', framed(3, 0, '')],
  ['a header that is longer than its frame', framed(10, 100, '{"id":')],
  ['a header that is no JSON', framed(8, 4, '{id}')],
  ['a header that is no object', framed(8, 4, 'null')],
  ['sizes that are no list', framed(4 + 11, 11, '{"sizes":1}')],
  ['a negative size', framed(4 + 14, 14, '{"sizes":[-1]}')],
  ['a size beyond the frame', framed(4 + 13, 13, '{"sizes":[9]}')],
  ['bytes that no size names', framed(4 + 2 + 3, 2, '{}abc')],
])('refuses %s', (_, bytes) => expect(() => new FrameReader().push(bytes)).toThrow(ProtocolError));

test('ten thousand damaged frames are refused or read, and nothing else', () => {
  const random = randomFrom(29);
  const bytes = Buffer.concat(frames.slice(0, 1).map(encodeFrame));
  const thrown: unknown[] = [];
  for (let turn = 0; turn < 10_000; turn += 1) {
    const damaged = Buffer.from(bytes);
    for (let hit = 0; hit < 3; hit += 1)
      damaged[Math.floor(random() * damaged.byteLength)] = Math.floor(random() * 256);
    try {
      new FrameReader().push(damaged);
    } catch (error) {
      thrown.push(error);
    }
  }
  expect(thrown.filter((error) => !(error instanceof ProtocolError))).toEqual([]);
  expect(thrown).not.toEqual([]);
});
