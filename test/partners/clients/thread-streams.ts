import type { Client, ThreadStream } from '@langchain/langgraph-sdk';
import { expectSame, fieldOf, works } from './case.ts';
import type { ClientCase, ClientServer } from './case.ts';
import { startGate } from './gate.ts';
import { clientOf } from './sdk.ts';
import type { SdkVersion } from './sdk.ts';

/** How the client reaches a thread: server-sent events or a WebSocket. */
type Transport = 'sse' | 'websocket';

/** The transports that both servers have. */
const transports: readonly Transport[] = ['sse', 'websocket'];

const transportNames = { sse: 'SSE', websocket: 'WebSocket' } as const;

/** What a case has at hand: opens a stream of a new thread, or of one that is there. */
interface Streaming {
  client: Client;
  open: (assistantId: string, more?: MoreOptions) => ThreadStream;
}

interface MoreOptions {
  threadId?: string;
  fetch?: typeof fetch;
  reconnectDelayMs?: () => number;
}

const say = (content: string) => ({ input: { messages: [{ type: 'human', content }] } });

/** The first element of an iteration. */
async function firstOf<T>(all: AsyncIterable<T>): Promise<T> {
  for await (const each of all) return each;
  throw new Error('there is none');
}

/** Whether the graph itself has completed, not one inside it. */
const isEnd = (event: unknown): boolean =>
  fieldOf(event, 'params', 'namespace', 'length') === 0 && fieldOf(event, 'params', 'data', 'event') === 'completed';

const features: [feature: string, use: (streaming: Streaming) => Promise<void>][] = [
  [
    '`run.start` and `output`',
    async ({ open }) => {
      const thread = open('greeter');
      const { output } = thread;
      const { run_id } = await thread.run.start({ input: { input: 'Ada' } });
      expectSame(typeof run_id, 'string');
      expectSame(fieldOf(await output, 'output'), 'hello Ada');
      await thread.close();
    },
  ],
  [
    '`values`',
    async ({ open }) => {
      const thread = open('slow');
      const seen = Array.fromAsync(thread.values);
      await thread.run.start({ input: { each: 5 } });
      expectSame(
        (await seen).map((values) => fieldOf(values, 'steps', 'length')),
        [0, 1, 2, 3],
      );
      await thread.close();
    },
  ],
  [
    '`messages`',
    async ({ open }) => {
      const thread = open('helper');
      // A run that is over before has no messages for the client, whatever the server.
      await using gate = await startGate();
      const first = firstOf(thread.messages);
      await thread.run.start(say(`hi until ${gate.url}`));
      const message = await first;
      gate.open();
      expectSame(await Array.fromAsync(message.text), ['Good ', 'day ', 'to ', 'you']);
      await thread.close();
    },
  ],
  [
    '`toolCalls`',
    async ({ open }) => {
      const thread = open('helper');
      await using gate = await startGate();
      const first = firstOf(thread.toolCalls);
      await thread.run.start(say(`the weather until ${gate.url}`));
      const { name, input, output } = await first;
      gate.open();
      expectSame([name, input], ['weather', { city: 'Paris' }]);
      expectSame(JSON.stringify(await output).includes('It is sunny in Paris'), true);
      await thread.close();
    },
  ],
  [
    '`subgraphs`',
    async ({ open }) => {
      const thread = open('nested');
      // The client never ends a subscription that it makes after the last event of a run, whatever the server: the run
      // waits until it has made the one of the output.
      await using gate = await startGate();
      const found = firstOf(thread.subgraphs);
      await thread.run.start({ input: { each: 1, until: gate.url } });
      const inside = await found;
      await firstOf(inside.values);
      gate.open();
      expectSame([inside.name, fieldOf(await inside.output, 'steps', 'length')], ['inside', 3]);
      await thread.close();
    },
  ],
  [
    '`subscribe` to `updates`, `custom`, `checkpoints`, `tasks`',
    async ({ open }) => {
      const thread = open('helper');
      const channels = ['updates', 'custom', 'checkpoints', 'tasks', 'lifecycle'] as const;
      const events = await thread.subscribe(channels);
      await thread.run.start(say('the weather'));
      const seen = new Set<string>();
      for await (const event of events) {
        seen.add(String(fieldOf(event, 'method')));
        if (isEnd(event)) break;
      }
      expectSame([...seen].toSorted(), [...channels].toSorted());
      await thread.close();
    },
  ],
  [
    'an interrupt and `input.respond`',
    async ({ open }) => {
      const thread = open('helper');
      await thread.run.start(say('book'));
      await thread.output;
      expectSame([thread.interrupted, thread.interrupts.length], [true, 1]);
      const [interrupt] = thread.interrupts;
      expectSame(fieldOf(interrupt?.payload, 'action_requests', 0, 'name'), 'book');
      await thread.input.respond({
        interrupt_id: interrupt?.interruptId ?? '',
        namespace: interrupt?.namespace ?? [],
        response: { decisions: [{ type: 'approve' }] },
      });
      for await (const event of await thread.subscribe('lifecycle')) if (isEnd(event)) break;
      const state = await thread.state.get({ namespace: [] });
      expectSame(fieldOf(state, 'values', 'messages', 3, 'content', 0, 'text'), 'I heard: A room in Paris is booked');
      await thread.close();
    },
  ],
  [
    'a second run on the same stream',
    async ({ open }) => {
      const thread = open('chat');
      const values = await thread.subscribe('values');
      await thread.run.start(say('one'));
      await thread.output;
      await thread.run.start(say('two'));
      const seen: unknown[] = [];
      for await (const event of values) {
        seen.push(fieldOf(event, 'params', 'data', 'messages', 'length'));
        if (seen.at(-1) === 4) break;
      }
      expectSame(seen, [1, 2, 3, 4]);
      await thread.close();
    },
  ],
  [
    'a stream of a thread whose run is over has its events again',
    async ({ open }) => {
      const thread = open('helper');
      await thread.run.start(say('hi'));
      await thread.output;
      await thread.close();
      const later = open('helper', { threadId: thread.threadId });
      const message = await firstOf(later.messages);
      expectSame(await message.text, 'Good day to you');
      await later.close();
    },
  ],
  [
    '`runs.cancel` ends the stream',
    async ({ client, open }) => {
      const thread = open('slow');
      const { run_id } = await thread.run.start({ input: { each: 60_000 } });
      await firstOf(thread.values);
      await client.runs.cancel(thread.threadId, String(run_id));
      await thread.output;
      await thread.close();
    },
  ],
];

const asksForMessages = (body: unknown): boolean => typeof body === 'string' && body.includes('"messages"');

/** A fetch that breaks the first stream of messages off in the middle of one, and reports when there is another. */
function breakingFetch(onAnother: () => void): typeof fetch {
  let broken = false;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.body || !asksForMessages(init?.body)) return response;
    if (broken) {
      onAnother();
      return response;
    }
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let breaksNext = false;
    const breaking = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (breaksNext) {
            broken = true;
            controller.error(new TypeError('terminated'));
            return;
          }
          const { value, done } = await reader.read();
          breaksNext = decoder.decode(value, { stream: true }).includes('content-block-delta');
          if (done) controller.close();
          else controller.enqueue(value);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(breaking, response);
  };
}

/** Streams that break off: a client connects again by itself. */
const reconnect: [feature: string, use: (streaming: Streaming) => Promise<void>] = [
  'a stream that breaks off continues: each message once',
  async ({ open }) => {
    await using gate = await startGate();
    const thread = open('helper', { fetch: breakingFetch(gate.open), reconnectDelayMs: () => 10 });
    const messages = Array.fromAsync(thread.messages, async (message) => await message.text);
    // It is over only once the stream has broken off, and there is another.
    await thread.run.start(say(`the weather until ${gate.url}`));
    await thread.output;
    await thread.close();
    expectSame(await messages, ['', 'I heard: It is sunny in Paris']);
  },
];

const streamingBy = (version: SdkVersion, transport: Transport, server: ClientServer): Streaming => {
  const client = clientOf(version, server);
  const headers = server.apiKey === null ? {} : { 'x-api-key': server.apiKey };
  // The client refuses a WebSocket with headers of its own: those are its factory's.
  const { threads } = transport === 'sse' ? client : clientOf(version, { ...server, apiKey: null });
  return {
    client,
    open(assistantId, { threadId, ...more } = {}) {
      const options = {
        assistantId,
        transport,
        webSocketFactory: (url: string) => new WebSocket(url, { headers }),
        ...more,
      };
      return threadId === undefined ? threads.stream(options) : threads.stream(threadId, options);
    },
  };
};

/** Threads streamed by the official client. */
export const threadStreamCases: ClientCase[] = transports.flatMap((transport) =>
  [...features, ...(transport === 'sse' ? [reconnect] : [])].flatMap(([feature, use]) =>
    (['1.12.1', '1.15.0'] as const).map((version) => ({
      client: `@langchain/langgraph-sdk, threads.stream by ${transportNames[transport]}`,
      version,
      feature,
      ...(transport === 'websocket' ? { maxWaitMs: 40_000 } : {}),
      async run(server) {
        await use(streamingBy(version, transport, server));
        return works;
      },
    })),
  ),
);
