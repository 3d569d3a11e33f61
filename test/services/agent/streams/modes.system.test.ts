import { Client } from '@langchain/langgraph-sdk';
import type { StreamMode } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';

let serving: Serving;
let client: Client;
beforeAll(async () => {
  serving = await serveAgent();
  client = new Client({ apiUrl: serving.url, apiKey: null });
});
afterAll(() => serving.close());

/** The events of one run of a graph, by the public client. */
async function streamed(
  graph: string,
  input: Record<string, unknown>,
  streamMode: StreamMode[],
  streamSubgraphs = false,
): Promise<{ event: string; data: unknown }[]> {
  const { thread_id } = await client.threads.create();
  const events: { event: string; data: unknown }[] = [];
  for await (const { event, data } of client.runs.stream(thread_id, graph, { input, streamMode, streamSubgraphs })) {
    events.push({ event, data });
  }
  return events;
}

const withoutIds = (event: string) => event.replaceAll(/:[0-9a-f-]{36}/g, '');
const namesOf = (events: readonly { event: string }[]) => [...new Set(events.map(({ event }) => withoutIds(event)))];

const echo = { input: 'Ada' };
const says = { messages: [{ role: 'user', content: 'hi' }] };
const outer = { word: 'hey' };

describe('the events of each stream mode', () => {
  test.each<[StreamMode, string, Record<string, unknown>, string[], unknown]>([
    ['values', 'echo', echo, ['values'], { input: 'Ada', output: 'hello Ada', steps: ['prepare', 'answer'] }],
    ['updates', 'echo', echo, ['updates'], { answer: { output: 'hello Ada', steps: ['answer'] } }],
    ['tasks', 'echo', echo, ['tasks'], { name: 'answer', result: { output: 'hello Ada' }, interrupts: [] }],
    [
      'checkpoints',
      'echo',
      echo,
      ['checkpoints'],
      {
        values: { output: 'hello Ada' },
        next: [],
        tasks: [],
        metadata: { source: 'loop' },
        config: { configurable: {} },
      },
    ],
    ['debug', 'echo', echo, ['debug'], { type: 'checkpoint', step: 2, payload: { values: { output: 'hello Ada' } } }],
    ['events', 'echo', echo, ['events'], { event: 'on_chain_end', name: 'LangGraph' }],
    ['custom', 'outer', outer, ['custom'], { heard: 'hey' }],
    ['messages-tuple', 'chat', says, ['messages'], [{ type: 'ai' }, { langgraph_node: 'say' }]],
    [
      'messages',
      'chat',
      says,
      ['messages/complete', 'messages/metadata', 'messages/partial'],
      [{ type: 'ai', content: 'Good day to you' }],
    ],
  ])('%s', async (mode, graph, input, names, last) => {
    const events = await streamed(graph, input, [mode]);
    expect(namesOf(events)).toEqual(['metadata', ...names]);
    expect(events.at(-1)?.data).toMatchObject(Object(last));
  });

  test.each<[StreamMode, string[]]>([
    ['values', ['checkpoints', 'values', 'checkpoints|inside', 'values|inside']],
    ['updates', ['updates|inside', 'updates']],
    ['tasks', ['tasks', 'tasks|inside']],
    ['checkpoints', ['checkpoints', 'checkpoints|inside']],
    ['debug', ['debug', 'debug|inside']],
    ['custom', ['custom|inside']],
  ])('%s of subgraphs have their namespace, on request', async (mode, names) => {
    expect(namesOf(await streamed('outer', outer, [mode], true))).toEqual(['metadata', ...names]);
    expect(namesOf(await streamed('outer', outer, [mode]))).toEqual(['metadata', mode]);
  });

  const input = ['messages/complete'];
  test.each<[modes: StreamMode[], names: string[]]>([
    [
      ['values', 'messages'],
      ['values', ...input, 'messages/metadata', 'messages/partial', 'values', 'messages/complete'],
    ],
    [
      ['messages', 'values'],
      ['values', ...input, 'messages/metadata', 'messages/partial', 'values', 'messages/complete'],
    ],
    [
      ['messages', 'updates'],
      [...input, 'messages/metadata', 'messages/partial', 'updates', 'messages/complete'],
    ],
    [
      ['messages-tuple', 'values'],
      ['values', 'messages', 'values'],
    ],
    [
      ['messages-tuple', 'updates'],
      ['messages', 'updates'],
    ],
  ])('%j have the order of the public server', async (modes, names) => {
    const all = (await streamed('chat', says, modes)).map(({ event }) => event);
    expect(all.filter((name, at) => name !== all[at - 1])).toEqual(['metadata', ...names]);
  });

  test('values of subgraphs come after their checkpoints', async () => {
    const events = await streamed('outer', outer, ['values'], true);
    const names = events.slice(1).map(({ event }) => event.split('|')[0]);
    expect(names).toEqual(names.map((_, at) => (at % 2 === 0 ? 'checkpoints' : 'values')));
    expect(events[1]?.data).toMatchObject({ id: expect.any(String), step: 0, source: 'loop' });
  });

  test('all modes at once', async () => {
    const modes: StreamMode[] = [
      'values',
      'updates',
      'tasks',
      'checkpoints',
      'debug',
      'events',
      'custom',
      'messages',
      'messages-tuple',
    ];
    const events = await streamed('chat', says, modes);
    const plain = ['values', 'updates', 'tasks', 'checkpoints', 'debug', 'events', 'messages'];
    const growing = ['messages/metadata', 'messages/partial', 'messages/complete'];
    expect(namesOf(events).toSorted()).toEqual(['metadata', ...plain, ...growing].toSorted());
  });
});

test('tools streams the start, progress, and end of each tool call', async () => {
  const agent = temporaryAgent({
    'langgraph.json': { graphs: { tooled: './graph.ts:tooled' } },
    'graph.ts': `
      import { AIMessage } from '@langchain/core/messages';
      import { tool } from '@langchain/core/tools';
      import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
      import { ToolNode } from '@langchain/langgraph/prebuilt';
      import * as z from 'zod';
      async function* look({ city }) {
        if (city === 'nowhere') throw new Error('No such city.');
        yield 'looking';
        return 'sunny in ' + city;
      }
      const weather = tool(look, { name: 'weather', description: 'The weather.', schema: z.object({ city: z.string() }) });
      const calls = ['Bonn', 'nowhere'].map((city, n) => ({ id: 'call-' + n, name: 'weather', args: { city } }));
      export const tooled = new StateGraph(MessagesAnnotation)
        .addNode('say', () => ({ messages: [new AIMessage({ content: '', tool_calls: calls })] }))
        .addNode('tools', new ToolNode([weather]))
        .addEdge('__start__', 'say').addEdge('say', 'tools').addEdge('tools', '__end__')
        .compile();`,
  });
  const server = await serveAgent({ configPath: agent.configPath });
  const { runs } = new Client({ apiUrl: server.url, apiKey: null });
  const events: { event: string; data: unknown }[] = [];
  for await (const chunk of runs.stream(null, 'tooled', { input: {}, streamMode: ['tools'] })) events.push(chunk);
  await server.close();
  agent.remove();
  expect(namesOf(events)).toEqual(['metadata', 'tools']);
  const ofCall = (id: string) => events.map(({ data }) => Object(data)).filter(({ toolCallId }) => toolCallId === id);
  expect(ofCall('call-0')).toMatchObject([
    { event: 'on_tool_start', name: 'weather' },
    { event: 'on_tool_event', data: 'looking' },
    { event: 'on_tool_end', output: { content: 'sunny in Bonn' } },
  ]);
  expect(ofCall('call-1')).toMatchObject([{ event: 'on_tool_start' }, { event: 'on_tool_error' }]);
});
