import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventStreamError, parseEvents, readEvents, type TextEvent } from '../../../src/kit/sse/parse-events.ts';
import { writeComment, writeEvent } from '../../../src/kit/sse/write-event.ts';
import { recordedBytes, recordedStreams } from './recorded-stream.ts';

const maxEventBytes = 1_000_000;

interface Read {
  events: TextEvent[];
  problem?: string;
}

async function* pieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
}

async function read(chunks: AsyncIterable<Uint8Array>, limit = maxEventBytes): Promise<Read> {
  const events: TextEvent[] = [];
  try {
    for await (const event of parseEvents(chunks, { maxEventBytes: limit })) events.push(event);
    return { events };
  } catch (error) {
    if (error instanceof EventStreamError) return { events, problem: error.reason };
    throw error;
  }
}

const readText = (text: string, limit?: number): Promise<Read> => read(pieces(Buffer.from(text), []), limit);

/** The same stream with other line ends, and with characters of two, three and four bytes. */
const spellings: [string, (text: string) => string][] = [
  ['as recorded', (text) => text],
  ['with CR and LF', (text) => text.replaceAll('\n', '\r\n')],
  ['with CR alone', (text) => text.replaceAll('\n', '\r')],
  ['with long characters', (text) => text.replaceAll('hello', 'é€😀')],
  ['with heartbeats', (text) => text.replaceAll('\n\n', '\n\n: heartbeat\n\n')],
];

const small = ['updates', 'fail', 'messages-tuple'] as const;

test.each(small.flatMap((name) => spellings.map(([how, spell]) => [name, how, spell] as const)))(
  'the recorded stream %s gives the same events for a cut at every byte, %s',
  async (name, _, spell) => {
    const text = recordedBytes(name).toString('utf8');
    const expected = await readText(text.replaceAll('hello', spell('hello')));
    const bytes = Buffer.from(spell(text));
    const differing: number[] = [];
    for (let at = 0; at <= bytes.length; at += 1) {
      if (JSON.stringify(await read(pieces(bytes, [at]))) !== JSON.stringify(expected)) differing.push(at);
    }
    expect(differing).toEqual([]);
    expect(await read(pieces(bytes, [...bytes.keys()]))).toEqual(expected);
  },
);

describe.each(recordedStreams)('the recorded stream %s', (name, count) => {
  test('gives the events that were recorded', async () => {
    const { events, problem } = await read(pieces(recordedBytes(name), []));
    expect(problem).toBeUndefined();
    expect(events).toHaveLength(count);
    expect(events[0]).toMatchObject({ event: 'metadata' });
    for (const { data } of events) expect(() => JSON.parse(data)).not.toThrow();
  });

  test('gives the same events for any pieces, empty ones included', async () => {
    const bytes = recordedBytes(name);
    const expected = await read(pieces(bytes, []));
    const cuts = fc
      .array(fc.nat(bytes.length), { maxLength: 40 })
      .map((places) => places.sort((one, other) => one - other));
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        expect(await read(pieces(bytes, places))).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  test('gives the same events for a cut at every byte', async () => {
    const bytes = recordedBytes(name);
    const expected = JSON.stringify(await read(pieces(bytes, [])));
    const differing: number[] = [];
    for (let at = 0; at <= bytes.length; at += 1) {
      if (JSON.stringify(await read(pieces(bytes, [at]))) !== expected) differing.push(at);
    }
    expect(differing).toEqual([]);
  });

  test('gives no partial event when it ends at any byte, and says so', async () => {
    const bytes = recordedBytes(name);
    const whole = await read(pieces(bytes, []));
    const wrong: number[] = [];
    for (let end = 0; end <= bytes.length; end += 1) {
      const { events, problem } = await read(pieces(bytes.subarray(0, end), []));
      const between = end === 0 || bytes.subarray(0, end).toString('latin1').endsWith('\n\n');
      const last = events.at(-1);
      const partial = last !== undefined && last.data !== whole.events[events.length - 1]?.data;
      if (partial || problem !== (between ? undefined : 'cut')) wrong.push(end);
    }
    expect(wrong).toEqual([]);
  });
});

describe('reading events', () => {
  test.each<[string, string, TextEvent[]]>([
    ['an event without a name is a message', 'data: 1\n\n', [{ event: 'message', data: '1' }]],
    ['an empty name is none', 'event:\ndata: 1\n\n', [{ event: 'message', data: '1' }]],
    [
      'the lines of one event may come in any order',
      'data: 1\nid: 7\nevent: a\n\n',
      [{ id: '7', event: 'a', data: '1' }],
    ],
    ['data of many lines is one text', 'data: a\ndata:\ndata: b\n\n', [{ event: 'message', data: 'a\n\nb' }]],
    [
      'an id counts for its own event only',
      'id: 1\ndata: a\n\ndata: b\n\n',
      [
        { id: '1', event: 'message', data: 'a' },
        { event: 'message', data: 'b' },
      ],
    ],
    ['a name without data is no event', 'event: end\n\n', []],
    ['comments are no events', ': ping\n\n: ping\n', []],
    ['ignores unknown fields', 'colour: red\ndata: 1\n\n', [{ event: 'message', data: '1' }]],
    ['a byte order mark is left out', '\uFEFFdata: 1\n\n', [{ event: 'message', data: '1' }]],
    ['nothing is no event', '', []],
  ])('%s', async (_, text, events) => {
    expect(await readText(text)).toEqual({ events });
  });

  test.each([
    ['in a name', 'event: upda'],
    ['before the colon of a name', 'event'],
    ['after a name', 'event: updates\n'],
    ['after a name that is the default one', 'event: message\n'],
    ['after an id', 'id: 4\n'],
    ['in data', 'data: {"a":'],
    ['after data', 'data: 1\n'],
    ['after data that reads like our own probe', 'data: end of stream\n'],
    ['in a comment', ': pin'],
    ['inside a character', '\u20ac'],
  ])('an end %s is reported as a cut', async (_, text) => {
    const bytes =
      text === '\u20ac' ? Buffer.concat([Buffer.from('data: '), Buffer.from(text).subarray(0, 2)]) : Buffer.from(text);
    const { events, problem } = await read(pieces(Buffer.concat([Buffer.from('data: whole\n\n'), bytes]), []));
    expect(events).toEqual([{ event: 'message', data: 'whole' }]);
    expect(problem).toBe('cut');
  });

  test('stops at an endless line before memory runs out, and keeps earlier events', async () => {
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('data: first\n\ndata: ');
      for (;;) {
        sent += 1_000;
        yield Buffer.alloc(1_000, 'x');
      }
    }
    expect(await read(endless(), 10_000)).toEqual({
      events: [{ event: 'message', data: 'first' }],
      problem: 'too-large',
    });
    expect(sent).toBeLessThan(13_000);
  });

  test('an event of endless lines ends the reading too', async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield Buffer.from(`data: ${'x'.repeat(100)}\n`);
    }
    expect(await read(endless(), 10_000)).toEqual({ events: [], problem: 'too-large' });
  });

  test('an endless comment is thrown away as it comes', async () => {
    async function* long(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(': ');
      for (let times = 0; times < 100; times += 1) yield Buffer.alloc(1_000, 'x');
      yield Buffer.from('\ndata: 1\n\n');
    }
    expect(await read(long(), 10_000)).toEqual({ events: [{ event: 'message', data: '1' }] });
  });

  test('leaving the loop ends the source', async () => {
    let ended = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.from('data: 1\n\ndata: 2\n\n');
      } finally {
        ended = true;
      }
    }
    for await (const { data } of parseEvents(source(), { maxEventBytes })) if (data === '2') break;
    expect(ended).toBe(true);
  });

  test('events become values as they are taken, and one that cannot ends the source', async () => {
    let ended = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from('data: 1\n\ndata: two\n\ndata: 3\n\n');
      } finally {
        ended = true;
      }
    }
    const values: unknown[] = [];
    const reading = (async () => {
      const asJson = {
        maxEventBytes,
        read: ({ data }: TextEvent): unknown => JSON.parse(data),
        explain: (error: Error) => error,
      };
      for await (const value of readEvents(source(), asJson)) values.push(value);
    })();
    await expect(reading).rejects.toThrow(SyntaxError);
    expect(values).toEqual([1]);
    expect(ended).toBe(true);
  });

  test('leaving while more is waited for is no cut', async () => {
    const end = Promise.withResolvers<IteratorResult<Uint8Array, undefined>>();
    const sent = [Buffer.from('data: 1\n\ndata: half')];
    const source: AsyncIterableIterator<Uint8Array, undefined> = {
      next: async () => {
        const value = sent.pop();
        return value ? { done: false, value } : end.promise;
      },
      return: async () => {
        end.resolve({ done: true, value: undefined });
        return end.promise;
      },
      [Symbol.asyncIterator]: () => source,
    };
    const events = parseEvents(source, { maxEventBytes })[Symbol.asyncIterator]();
    expect(await events.next()).toEqual({ done: false, value: { event: 'message', data: '1' } });
    const waiting = events.next();
    await events.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  test('an error of the source is passed on after the events before it', async () => {
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('data: 1\n\n');
      throw new Error('broken pipe');
    }
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { data } of parseEvents(source(), { maxEventBytes })) seen.push(data);
    })();
    await expect(reading).rejects.toThrow('broken pipe');
    expect(seen).toEqual(['1']);
  });
});

describe('writing events', () => {
  test('what is written is read again as it was', async () => {
    const name = fc.stringMatching(/^[a-z|/:-]{1,20}$/);
    const text = fc.string({ unit: 'binary' }).map((written) => written.replace(/\r\n|\r/g, '\n'));
    const event = fc.record({ id: name, event: name, data: text });
    await fc.assert(
      fc.asyncProperty(fc.array(event), async (events) => {
        const written = events.map((each) => `${writeEvent(each)}${writeComment('heartbeat')}`).join('');
        expect(await readText(written)).toEqual({ events });
      }),
    );
  });

  test('name, data and id stand on lines of their own, and a blank line ends them', () => {
    expect(writeEvent({ id: '3', event: 'updates', data: '{"a":1}' })).toBe('event: updates\ndata: {"a":1}\nid: 3\n\n');
    expect(writeEvent({ data: 'a\nb' })).toBe('data: a\ndata: b\n\n');
    expect(writeComment('heartbeat')).toBe(': heartbeat\n\n');
  });

  test.each([
    ['a name', () => writeEvent({ event: 'a\nb', data: '' })],
    ['an id', () => writeEvent({ id: 'a\r', data: '' })],
    ['a comment', () => writeComment('a\n\ndata: forged')],
  ])('%s of two lines is refused', (_, write) => {
    expect(write).toThrow('line break');
  });
});
