// The requests of three chat applications, which npm does not have: written anew with the client that they use.
import { randomUUID } from 'node:crypto';
import type { Checkpoint, Client } from '@langchain/langgraph-sdk';
import { expectSame, fieldOf, waitUntilSame, works } from './case.ts';
import type { ClientCase, ClientServer } from './case.ts';
import { startGate } from './gate.ts';
import { clientOf, waitUntilIdle } from './sdk.ts';
import type { StreamEvent } from './sdk.ts';

type Use = (client: Client, server: ClientServer) => Promise<void>;
type StreamOptions = Omit<NonNullable<Parameters<Client['runs']['stream']>[2]>, 'streamMode'>;

const human = (content: string) => ({ id: randomUUID(), type: 'human', content });
const say = (content: string) => ({ input: { messages: [human(content)] } });

/** Streams a run of the helper on a thread, as `useStream` does. */
async function submit(client: Client, threadId: string, options: StreamOptions): Promise<StreamEvent[]> {
  const heard = client.runs.stream(threadId, 'helper', {
    streamMode: ['values', 'messages-tuple', 'custom'],
    streamSubgraphs: true,
    streamResumable: true,
    onDisconnect: 'continue',
    ...options,
  });
  const events: StreamEvent[] = [];
  for await (const { event, data } of heard) events.push({ event, data });
  await waitUntilIdle(client, threadId);
  return events;
}

const begun = async ({ threads }: Client): Promise<string> => (await threads.create()).thread_id;

const contentsOf = (values: unknown): unknown[] => {
  const messages = fieldOf(values, 'messages');
  return Array.isArray(messages) ? messages.map((message) => fieldOf(message, 'content')) : [];
};

const agentChat: [string, Use][] = [
  [
    '`GET /info` with the key',
    async (_, { url, apiKey }) => {
      const headers: Record<string, string> = apiKey === null ? {} : { 'x-api-key': apiKey };
      expectSame((await fetch(`${url}/info`, { headers })).ok, true);
    },
  ],
  [
    'the list of threads of a graph',
    async (client) => {
      const id = await begun(client);
      await submit(client, id, say('hi'));
      const found = await client.threads.search({ metadata: { graph_id: 'helper' }, limit: 100 });
      const thread = found.find(({ thread_id }) => thread_id === id);
      expectSame(contentsOf(thread?.values), ['hi', 'Good day to you']);
    },
  ],
  [
    'a message with tools',
    async (client) => {
      const id = await begun(client);
      const heard = await submit(client, id, say('the weather'));
      const names = new Set(heard.map(({ event }) => event.split('|')[0]));
      expectSame(
        ['values', 'messages', 'custom'].filter((name) => !names.has(name)),
        [],
      );
      expectSame(
        contentsOf(heard.findLast(({ event }) => event === 'values')?.data).at(-1),
        'I heard: It is sunny in Paris',
      );
    },
  ],
  [
    'an answer once more, from the checkpoint before it',
    async (client) => {
      const id = await begun(client);
      await submit(client, id, say('hi'));
      const [, before] = await client.threads.getHistory(id, { limit: 10 });
      if (!before) throw new Error('no history');
      await submit(client, id, { input: null, checkpoint: before.checkpoint });
      const states = await client.threads.getHistory(id, { limit: 10 });
      expectSame(
        states.filter(({ next }) => next.length === 0).map(({ values }) => contentsOf(values)),
        [
          ['hi', 'Good day to you'],
          ['hi', 'Good day to you'],
        ],
      );
    },
  ],
  [
    'a decision of a person',
    async (client) => {
      const id = await begun(client);
      await submit(client, id, say('book'));
      const [waiting] = await client.threads.getHistory(id, { limit: 10 });
      const request = fieldOf(waiting?.tasks, 0, 'interrupts', 0, 'value');
      expectSame(fieldOf(request, 'review_configs', 0, 'allowed_decisions'), ['approve', 'reject']);
      await submit(client, id, { input: {}, command: { resume: { decisions: [{ type: 'approve' }] } } });
      const { values } = await client.threads.getState(id);
      expectSame(contentsOf(values).at(-1), 'I heard: A room in Paris is booked');
    },
  ],
  [
    '"Mark as resolved": `goto` of the end',
    async (client) => {
      const id = await begun(client);
      await submit(client, id, say('book'));
      const heard = await submit(client, id, { input: {}, command: { goto: '__end__' } });
      expectSame(
        heard.some(({ event }) => event === 'error'),
        false,
      );
    },
  ],
];

const deepAgents: [string, Use][] = [
  [
    'the default assistant of a graph',
    async ({ assistants }) => {
      const found = await assistants.search({ graphId: 'helper', limit: 100 });
      const made = found.find(({ metadata }) => metadata?.['created_by'] === 'system');
      expectSame((await assistants.get(made?.assistant_id ?? '')).graph_id, 'helper');
    },
  ],
  [
    'the list of threads by status, newest first',
    async (client) => {
      const [assistant] = await client.assistants.search({ graphId: 'helper', limit: 100 });
      const assistant_id = assistant?.assistant_id ?? '';
      const id = await begun(client);
      const run = client.runs.stream(id, assistant_id, { ...say('book'), streamMode: 'values' });
      await Array.fromAsync(run);
      const found = await client.threads.search({
        limit: 20,
        offset: 0,
        sortBy: 'updated_at',
        sortOrder: 'desc',
        status: 'interrupted',
        metadata: { assistant_id },
      });
      expectSame(
        found.some(({ thread_id }) => thread_id === id),
        true,
      );
    },
  ],
  [
    'one step at a time: `interruptBefore` and `interruptAfter` of `tools`',
    async (client) => {
      const id = await begun(client);
      await submit(client, id, { ...say('the weather'), interruptBefore: ['tools'] });
      expectSame((await client.threads.getState(id)).next, ['tools']);
      await submit(client, id, { input: null, interruptAfter: ['tools'], config: { recursion_limit: 100 } });
      expectSame((await client.threads.getState(id)).next, ['think']);
      await submit(client, id, { input: null });
    },
  ],
  [
    '`interruptBefore` of a node that the graph lacks',
    async (client) => {
      const run = client.runs.stream(null, 'chat', { ...say('hi'), interruptBefore: ['tools'], streamMode: 'values' });
      const heard: StreamEvent[] = await Array.fromAsync(run);
      expectSame(contentsOf(heard.at(-1)?.data), ['hi', 'Good day to you']);
    },
  ],
  [
    'files changed by the user: `updateState`',
    async (client) => {
      const id = await begun(client);
      await submit(client, id, say('hi'));
      await client.threads.updateState(id, { values: { files: { 'notes.md': 'Remember' } } });
      expectSame(fieldOf((await client.threads.getState(id)).values, 'files'), { 'notes.md': 'Remember' });
    },
  ],
  [
    'a page that is loaded again joins the run',
    async (client) => {
      const id = await begun(client);
      await using gate = await startGate();
      const hello = `hi until ${gate.url}`;
      const input = { ...say(hello), streamMode: ['values' as const], streamResumable: true };
      const { run_id } = await client.runs.create(id, 'helper', input);
      const heard: StreamEvent[] = [];
      for await (const { event, data } of client.runs.joinStream(id, run_id, { lastEventId: '-1' })) {
        heard.push({ event, data });
        gate.open();
      }
      expectSame(contentsOf(heard.at(-1)?.data), [hello, 'Good day to you']);
    },
  ],
];

const assistantUi: [string, Use][] = [
  [
    'create, stream `messages`, `updates`, `custom`, load',
    async (client) => {
      const id = await begun(client);
      const streamMode = ['messages', 'updates', 'custom'] as const;
      const run = client.runs.stream(id, 'helper', { ...say('the weather'), streamMode: [...streamMode] });
      const names = new Set((await Array.fromAsync(run)).map(({ event }) => event.split('/')[0]));
      expectSame(names, new Set(['metadata', ...streamMode]));
      expectSame(contentsOf((await client.threads.getState(id)).values).length, 4);
    },
  ],
  [
    'load a thread that waits for a person, and answer',
    async (client) => {
      const id = await begun(client);
      await submit(client, id, say('book'));
      const { tasks } = await client.threads.getState(id);
      expectSame(tasks[0]?.interrupts.length, 1);
      const command = { resume: { decisions: [{ type: 'reject' }] } };
      await submit(client, id, { input: null, command });
      expectSame(contentsOf((await client.threads.getState(id)).values).at(-1), 'I heard: Nothing is booked');
    },
  ],
  [
    'an edited message: a run from a checkpoint',
    async (client) => {
      const id = await begun(client);
      for (const content of ['one', 'two']) await submit(client, id, say(content));
      const history = await client.threads.getHistory(id);
      const before = history.find(({ values }) => contentsOf(values).length === 2);
      // Of the checkpoint it sends the id alone, which the client's types do not allow.
      const checkpoint: Checkpoint = JSON.parse(`{"checkpoint_id":"${before?.checkpoint.checkpoint_id}"}`);
      await submit(client, id, { ...say('changed'), checkpoint });
      const { values } = await client.threads.getState(id);
      expectSame(contentsOf(values), ['one', 'Good day to you', 'changed', 'Good day to you']);
    },
  ],
  [
    'cancel: the client leaves a run with `onDisconnect: "cancel"`',
    async (client) => {
      const id = await begun(client);
      const leave = new AbortController();
      const options = { streamMode: 'messages', onDisconnect: 'cancel', signal: leave.signal } as const;
      await using gate = await startGate();
      const run = client.runs.stream(id, 'helper', { ...say(`hi until ${gate.url}`), ...options });
      await run.next();
      leave.abort();
      await waitUntilSame(async () => (await client.runs.list(id))[0]?.status, 'interrupted');
    },
  ],
  [
    'the list of threads: search, rename, delete',
    async ({ threads }) => {
      const { thread_id } = await threads.create();
      await threads.update(thread_id, { metadata: { title: 'Weather' } });
      const listed = async () => (await threads.search({ limit: 50 })).find((each) => each.thread_id === thread_id);
      expectSame((await listed())?.metadata?.['title'], 'Weather');
      await threads.delete(thread_id);
      expectSame(await listed(), undefined);
    },
  ],
];

const casesOf = (client: string, version: string, features: readonly [string, Use][]): ClientCase[] =>
  features.map(([feature, use]) => ({
    client,
    version,
    feature,
    async run(server) {
      await use(clientOf('1.15.0', server), server);
      return works;
    },
  }));

/** The commit of each application whose requests these are. */
export const chatAppCases: ClientCase[] = [
  ...casesOf('agent-chat-ui', 'fdc87e6', agentChat),
  ...casesOf('deep-agents-ui', 'f6a4f34', deepAgents),
  ...casesOf('assistant-ui', '1263c1f', assistantUi),
];
