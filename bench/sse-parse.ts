// How fast a stream of events becomes values: ours beside JSON.parse alone on the same data, and beside the public
// client's parser. Streams of several shapes, and two ways in which their
// bytes come. Measured in CPU time, which other work on the machine disturbs less.
import { BytesLineDecoder, SSEDecoder } from '@langchain/langgraph-sdk/utils';
import { readEvents } from '../src/kit/sse/parse-events.ts';
import { writeEvent } from '../src/kit/sse/write-event.ts';
import { contend, cpuEach, startContender } from './contender-process.ts';
import type { Measured } from './figure.ts';
import { interleave, median, sized, spread } from './rounds.ts';

/** How much each round parses (bytes). */
const roundBytes = sized(8 * 1024 * 1024, 64 * 1024);

interface Shape {
  event: string;
  /** The data of one event. */
  data: (index: number) => unknown;
  /** The size of the pieces in which the bytes come; absent: one event each, as a model says one word after another. */
  pieceBytes?: number;
}

const message = (index: number, content: string) => ({
  id: `run-${index % 7}`,
  type: 'AIMessageChunk',
  content,
  additional_kwargs: {},
  response_metadata: {},
  tool_calls: [],
});
const prose = (index: number, length: number, sentence = 'left the same day; "tomorrow" it is there. ') =>
  `Parcel ${index} ${sentence}`.repeat(Math.ceil(length / 50)).slice(0, length);

const shapes: Readonly<Record<string, Shape>> = {
  'tokens-apart': { event: 'messages', data: (index) => [message(index, 'word '), { langgraph_node: 'answer' }] },
  tokens: {
    event: 'messages',
    data: (index) => [message(index, 'word '), { langgraph_node: 'answer' }],
    pieceBytes: 16 * 1024,
  },
  steps: {
    event: 'updates',
    data: (index) => ({
      answer: { messages: [message(index, prose(index, 1500))], topic: 'delivery', steps: [index] },
    }),
    pieceBytes: 16 * 1024,
  },
  states: {
    event: 'values',
    data: (index) => ({ messages: Array.from({ length: 60 }, (_, at) => message(at, prose(index + at, 900))) }),
    pieceBytes: 64 * 1024,
  },
  // One sign beyond Latin letters makes the engine keep two bytes for each character of a text.
  'states-wide': {
    event: 'values',
    data: (index) => ({
      messages: Array.from({ length: 60 }, (_, at) =>
        message(at, prose(index + at, 900, '– “tomorrow” it is there. ')),
      ),
    }),
    pieceBytes: 64 * 1024,
  },
};

interface Stream {
  pieces: Uint8Array[];
  /** The data of every event, as text. */
  data: string[];
  bytes: number;
}

function streamOf({ event, data, pieceBytes }: Shape): Stream {
  const texts: string[] = [];
  const events: Buffer[] = [];
  for (let bytes = 0; bytes < roundBytes; bytes += events.at(-1)?.length ?? 0) {
    const text = JSON.stringify(data(events.length));
    texts.push(text);
    events.push(Buffer.from(writeEvent({ id: String(events.length), event, data: text })));
  }
  const whole = Buffer.concat(events);
  const pieces = pieceBytes === undefined ? events : cut(whole, pieceBytes);
  return { pieces, data: texts, bytes: whole.length };
}

const cut = (whole: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(whole.length / size) }, (_, at) => whole.subarray(at * size, (at + 1) * size));

type Parse = (stream: Stream) => Promise<number>;

const parsers: Record<'ours' | 'floor' | 'peer', Parse> = {
  ours: async ({ pieces }) => {
    const parsed = readEvents(sourceOf(pieces), {
      maxEventBytes: 16 * 1024 * 1024,
      read: ({ event, data }) => ({ event, data: valueOf(data) }),
      explain: (problem) => problem,
    });
    return count(parsed);
  },
  floor: async ({ data }) => {
    let seen = 0;
    for (const text of data) if (valueOf(text) !== null) seen += 1;
    return seen;
  },
  peer: async ({ pieces }) =>
    count(ReadableStream.from(pieces).pipeThrough(BytesLineDecoder()).pipeThrough(SSEDecoder())),
};

const valueOf = (text: string): unknown => JSON.parse(text);

async function count(events: AsyncIterable<unknown>): Promise<number> {
  let seen = 0;
  for await (const event of events) if (event !== null) seen += 1;
  return seen;
}

/** Yields one chunk per read, as a connection does. */
function sourceOf(pieces: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => {
      let at = 0;
      return {
        next: async () => {
          const value = pieces[at];
          at += 1;
          return value === undefined ? { done: true, value: undefined } : { done: false, value };
        },
      };
    },
  };
}

function contender(parse: Parse) {
  return (name = '') => {
    const shape = shapes[name];
    if (!shape) throw new Error(`there is no stream of ${name}`);
    const stream = streamOf(shape);
    return {
      round: async () => {
        const microseconds = await cpuEach(1, async () => {
          const seen = await parse(stream);
          if (seen !== stream.data.length) throw new Error(`${seen} of ${stream.data.length} events were seen`);
        });
        return stream.bytes / microseconds;
      },
    };
  };
}

/** Parsed megabytes for every second of CPU time, for each shape of a stream. */
export async function sseParse(): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const shape of Object.keys(shapes).slice(0, sized(Infinity, 1))) measured.push(await ofShape(shape));
  return measured;
}

async function ofShape(shape: string): Promise<Measured> {
  const start = (name: keyof typeof parsers) => startContender(import.meta.filename, name, shape);
  await using ours = await start('ours');
  await using floor = await start('floor');
  await using peer = await start('peer');
  const measured = await interleave({ ours, floor, peer }, { rounds: 9, warmups: 2 });
  return {
    figure: `sse-parse-${shape}`,
    unit: 'MB per CPU second',
    ours: median(measured.ours),
    floor: median(measured.floor),
    peer: median(measured.peer),
    notes: {
      ours: 'bytes to events with values',
      floor: 'JSON.parse alone, of data that was cut out before',
      peer: "the public client's decoders",
    },
    targets: [
      { of: 'peer', least: 3 },
      { of: 'ours', least: 200 },
    ],
    spread: spread(measured.ours),
  };
}

if (import.meta.main) {
  await contend({ ours: contender(parsers.ours), floor: contender(parsers.floor), peer: contender(parsers.peer) });
}
