import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import { expectSame, fieldOf, works } from './case.ts';
import type { ClientCase, ClientServer } from './case.ts';
import { startGate } from './gate.ts';
import { clientOf, load, waitUntilIdle } from './sdk.ts';

type Engine = typeof import('@langchain/langgraph');
type Remote = typeof import('@langchain/langgraph/remote');
type RemoteGraph = InstanceType<Remote['RemoteGraph']>;

const say = (content: string) => ({ messages: [{ role: 'user', content }] });

/** What the last message of a state says. */
const lastOf = (state: unknown): unknown => {
  const messages = fieldOf(state, 'messages');
  return Array.isArray(messages) ? fieldOf(messages.at(-1), 'content') : undefined;
};

const features: [
  feature: string,
  use: (remote: (graphId: string) => RemoteGraph, on: Thread, client: Client) => Promise<void>,
][] = [
  [
    '`invoke`',
    async (remote) => {
      expectSame(fieldOf(await remote('greeter').invoke({ input: 'Ada' }), 'output'), 'hello Ada');
    },
  ],
  [
    '`invoke` on a thread, then `getState` and `getStateHistory`',
    async (remote, on) => {
      const graph = remote('greeter');
      await graph.invoke({ input: 'Ada' }, on);
      expectSame((await graph.getState(on)).values, { input: 'Ada', output: 'hello Ada' });
      expectSame((await Array.fromAsync(graph.getStateHistory(on))).length, 3);
    },
  ],
  [
    '`updateState`',
    async (remote, on) => {
      const graph = remote('greeter');
      await graph.invoke({ input: 'Ada' }, on);
      await graph.updateState(on, { output: 'changed' }, 'greet');
      expectSame(fieldOf((await graph.getState(on)).values, 'output'), 'changed');
    },
  ],
  [
    '`stream` with the modes `updates`, `values`, `messages`, `custom`',
    async (remote) => {
      const streamMode = ['updates', 'values', 'messages', 'custom'] as const;
      const seen = await Array.fromAsync(
        await remote('helper').stream(say('the weather'), { streamMode: [...streamMode] }),
      );
      expectSame(new Set(seen.map((each) => fieldOf(each, 0))), new Set(streamMode));
    },
  ],
  [
    '`stream` with `subgraphs`',
    async (remote) => {
      const stream = await remote('outer').stream({ word: 'oh' }, { streamMode: 'updates', subgraphs: true });
      const seen = await Array.fromAsync(stream);
      expectSame(
        seen.map((each) => [fieldOf(each, 0, 'length'), Object.keys(Object(fieldOf(each, 1))).join()]),
        [
          [1, 'shout'],
          [1, 'breathe'],
          [0, 'inside'],
        ],
      );
    },
  ],
  [
    'an interrupt, and `Command` with `resume`',
    async (remote, on, client) => {
      const { Command }: Engine = load('@langchain/langgraph');
      const graph = remote('interrupts');
      const interrupted: unknown = await graph.invoke({ request: 'dance' }, on).catch((error: unknown) => error);
      expectSame(fieldOf(interrupted, 'interrupts', 0, 'value', 'question'), 'May I dance?');
      await waitUntilIdle(client, on.configurable.thread_id);
      expectSame(fieldOf(await graph.invoke(new Command({ resume: 'yes' }), on), 'answer'), 'dance: yes');
    },
  ],
  [
    'a node of another graph',
    async (remote) => {
      const { MessagesAnnotation, StateGraph }: Engine = load('@langchain/langgraph');
      const outer = new StateGraph(MessagesAnnotation)
        .addNode('remote', remote('helper'))
        .addEdge('__start__', 'remote')
        .addEdge('remote', '__end__')
        .compile();
      expectSame(lastOf(await outer.invoke(say('the weather'))), 'I heard: It is sunny in Paris');
    },
  ],
  [
    '`getGraphAsync` draws the graph',
    async (remote) => {
      const { nodes } = await remote('slow').getGraphAsync();
      expectSame(Object.keys(nodes), ['__start__', 'first', 'second', 'third', '__end__']);
    },
  ],
  [
    '`streamEvents` version 3: `output`',
    async (remote, on) => {
      const run = await remote('greeter').streamEvents({ input: 'Ada' }, { ...on, version: 'v3' });
      expectSame(fieldOf(await run.output, 'output'), 'hello Ada');
    },
  ],
  [
    '`streamEvents` version 3: `messages` and events of tools',
    async (remote, on) => {
      // The client subscribes once the run has started: the model waits until the first events of it are there.
      await using gate = await startGate();
      const said = say(`the weather, after ${gate.url}`);
      const run = await remote('helper').streamEvents(said, { ...on, version: 'v3' });
      const texts = Array.fromAsync(run.messages, async (message) => await message.text);
      const methods = Array.fromAsync(run, ({ method }) => {
        if (method === 'tasks') gate.open();
        return method;
      });
      await run.output;
      expectSame([await texts, (await methods).includes('tools')], [['', 'I heard: It is sunny in Paris'], true]);
    },
  ],
  [
    '`streamEvents` version 3: an interrupt',
    async (remote, on) => {
      const run = await remote('interrupts').streamEvents({ request: 'dance' }, { ...on, version: 'v3' });
      await run.output;
      expectSame([run.interrupted, fieldOf(run.interrupts, 0, 'payload', 'question')], [true, 'May I dance?']);
    },
  ],
];

interface Thread {
  configurable: { thread_id: string };
}

/** The client of another graph's server that has the graph's own interface. */
export const remoteGraphCases: ClientCase[] = features.map(([feature, use]) => ({
  client: '@langchain/langgraph, RemoteGraph',
  version: '1.7.3',
  feature,
  async run(server: ClientServer) {
    const { RemoteGraph }: Remote = load('@langchain/langgraph/remote');
    const { url, apiKey } = server;
    const thread_id = randomUUID();
    const client = clientOf('1.15.0', server);
    await client.threads.create({ threadId: thread_id });
    const remote = (graphId: string) => new RemoteGraph({ graphId, url, ...(apiKey === null ? {} : { apiKey }) });
    await use(remote, { configurable: { thread_id } }, client);
    return works;
  },
}));
