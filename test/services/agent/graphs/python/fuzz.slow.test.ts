import { duplexPair } from 'node:stream';
import { expect, test } from 'vitest';
import { Connection, WorkerGone, type Answer } from '../../../../../src/services/agent/graphs/python/connection.ts';
import { encodeFrame, type Frame } from '../../../../../src/services/agent/graphs/python/frames.ts';
import { randomFrom } from '../../../../random-from.ts';

const frames: Frame[] = [
  { header: { kind: 'hello', protocol: 2, python: '3.11.7', engine: '1.2.0' }, attachments: [] },
  {
    header: { kind: 'ask', id: 1, of: 1, op: 'store.batch', args: { operations: [] } },
    attachments: [Buffer.from('x')],
  },
  { header: { kind: 'tell', of: 1, op: 'checkpoint.put', args: {} }, attachments: [Buffer.from('x')] },
  { header: { kind: 'event', id: 1, value: { mode: 'values', namespace: [] } }, attachments: [Buffer.from('{}')] },
  { header: { kind: 'event', id: 2, value: null }, attachments: [] },
  { header: { kind: 'done', id: 2, value: null }, attachments: [Buffer.from('{}'), Buffer.alloc(0)] },
  {
    header: { kind: 'failed', id: 3, error: { type: 'A', message: 'a', cause: { type: 'B', message: 'b' } } },
    attachments: [],
  },
  { header: { kind: 'beat', of: 'loop', memory: 1024 }, attachments: [] },
  { header: { kind: 'log', level: 'info', logger: 'a', message: 'm' }, attachments: [] },
];
const names = ['kind', 'id', 'of', 'op', 'args', 'value', 'error', 'sizes', 'memory', 'level', 'protocol'];
const odd = [null, true, -1, 0, 1, 2, 3, 1.5, 1e300, '', 'done', 'event', '\ud83d', [], [[]], {}, 'x'.repeat(5_000)];
const causes = (depth: number): object => ({ type: 'A', message: 'a', ...(depth > 0 && { cause: causes(depth - 1) }) });
const batches = 500;
const framesOfBatch = 20;

/** A frame with an odd member, without one, with damaged bytes, cut, or nested too deeply. */
function mutated(random: () => number): Buffer {
  const one = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)];
  const { header, attachments } = one(frames) ?? { header: {}, attachments: [] };
  const how = Math.floor(random() * 10);
  if (how < 6) {
    const changed = { ...header, [one(names) ?? '']: random() < 0.2 ? undefined : one(odd) };
    return encodeFrame({ header: changed, attachments });
  }
  if (how === 6) return encodeFrame({ header, attachments });
  if (how === 7)
    return random() < 0.5
      ? framed('['.repeat(100_000))
      : encodeFrame({ header: { kind: 'failed', id: 3, error: causes(random() < 0.5 ? 20 : 4_000) }, attachments: [] });
  const damaged = encodeFrame({ header, attachments });
  // Behind the length, which would take in the frames after it.
  const from = how === 8 ? 4 : 0;
  for (let hit = 0; hit < 3; hit += 1)
    damaged[from + Math.floor(random() * (damaged.byteLength - from))] = Math.floor(random() * 256);
  return how === 8 || random() < 0.9 ? damaged : damaged.subarray(0, Math.floor(random() * damaged.byteLength));
}

function framed(text: string): Buffer {
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(4 + text.length, 0);
  lengths.writeUInt32BE(text.length, 4);
  return Buffer.concat([lengths, Buffer.from(text)]);
}

test('ten thousand damaged frames of a worker leave no request open', async () => {
  const random = randomFrom(28);
  const answer = async (): Promise<Answer> => ({ value: 'stored', attachments: [Buffer.from('x')] });
  const outcomes = new Map<string, number>();
  for (let batch = 0; batch < batches; batch += 1) {
    const [ours, theirs] = duplexPair();
    const ends: Error[] = [];
    const connection = new Connection(ours, { ended: (why) => void ends.push(why) });
    // What the worker is told.
    theirs.resume();
    const asked = ['run', 'state', 'draw'].map((op) => connection.ask(op, {}, { answer }));
    for (let at = 0; at < framesOfBatch; at += 1) theirs.write(mutated(random));
    theirs.end();
    for (const each of await Promise.allSettled(asked)) {
      const outcome = each.status === 'fulfilled' ? 'answered' : Object(each.reason).constructor.name;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    await expect.poll(() => ends.length, { interval: 1 }).toBe(1);
    await expect(connection.ask('state', {})).rejects.toBeInstanceOf(WorkerGone);
  }
  expect([...outcomes.keys()].toSorted()).toEqual(['WorkerError', 'WorkerGone', 'answered']);
});

/** A worker, and what it is sent. */
function connected(answer?: () => Promise<Answer>) {
  const [ours, theirs] = duplexPair();
  const connection = new Connection(ours, {});
  const asked = connection.stream('run', {}, answer ? { answer } : {});
  return { theirs, ours, asked, first: asked.next(), end: () => connection.end(new Error('over')) };
}

test('a stream ends with an error where it has more events than were asked for', async () => {
  const { theirs, asked, first } = connected();
  const event = encodeFrame({ header: { kind: 'event', id: 1, value: null }, attachments: [] });
  for (let at = 0; at < 300; at += 1) theirs.write(event);
  await first;
  await expect(Array.fromAsync(asked)).rejects.toThrow('A stream has more events than were asked for.');
});

test('a worker that reads nothing is not read either', async () => {
  let answers = 0;
  const block = Buffer.alloc(2 ** 20);
  const { theirs, ours, first, end } = connected(async () => {
    answers += 1;
    return { value: null, attachments: [block] };
  });
  const args = { place: 'x'.repeat(16_000) };
  const asking = encodeFrame({ header: { kind: 'ask', id: 1, of: 1, op: 'checkpoint.get', args }, attachments: [] });
  // Each piece is taken by itself, and its answer waits to be read.
  let isDrained = true;
  for (let at = 0; at < 2_000 && isDrained; at += 1) {
    isDrained = theirs.write(asking);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(answers).toBeLessThan(200);
  expect(ours.writableLength).toBeLessThan(200 * 2 ** 20);
  theirs.resume();
  const before = answers;
  theirs.write(asking);
  await expect.poll(() => answers).toBeGreaterThan(before);
  end();
  await expect(first).rejects.toBeInstanceOf(WorkerGone);
});
