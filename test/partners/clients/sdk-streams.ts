import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, StreamMode } from '@langchain/langgraph-sdk';
import { eventsOfModes } from '../agent-clients/streams.ts';
import { expectSame, fieldOf } from './case.ts';
import { startGate } from './gate.ts';
import { namesOf, sdkCases } from './sdk.ts';
import type { StreamEvent } from './sdk.ts';

const say = (content: string) => ({ input: { messages: [{ role: 'user', content }] } });

const modes: [StreamMode, string[]][] = [...eventsOfModes, ['custom', ['custom']]];

async function heardBy(client: Client, content: string, streamMode: StreamMode | StreamMode[]): Promise<StreamEvent[]> {
  const { thread_id } = await client.threads.create();
  return Array.fromAsync(client.runs.stream(thread_id, 'helper', { ...say(content), streamMode }));
}

/** Streams of runs with the official client. */
export const sdkStreamCases = [
  ...modes.flatMap(([mode, names]) =>
    sdkCases(`\`runs.stream\` with the mode \`${mode}\``, async (client) => {
      const heard = await heardBy(client, 'the weather', mode);
      expectSame(new Set(namesOf(heard)), new Set(['metadata', ...names]));
    }),
  ),
  ...sdkCases(
    '`runs.stream` with the mode `tools`',
    async (client) => {
      const heard = await heardBy(client, 'the weather', 'tools');
      expectSame(
        heard.slice(1).map(({ event, data }) => [event, fieldOf(data, 'event'), fieldOf(data, 'name')]),
        [
          ['tools', 'on_tool_start', 'weather'],
          ['tools', 'on_tool_end', 'weather'],
        ],
      );
    },
    ['1.12.1', '1.15.0'],
  ),
  ...sdkCases('`runs.stream` with a list of modes', async (client) => {
    const heard = await heardBy(client, 'the weather', ['values', 'updates', 'messages-tuple', 'custom']);
    expectSame(new Set(namesOf(heard)), new Set(['metadata', 'values', 'updates', 'messages', 'custom']));
    const words = heard.filter(({ event }) => event === 'messages').map(({ data }) => fieldOf(data, 0, 'content'));
    expectSame(words.join('').endsWith('I heard: It is sunny in Paris'), true);
  }),
  ...sdkCases('`runs.stream` with `streamSubgraphs`', async ({ runs }) => {
    const options = {
      input: { word: 'oh' },
      streamMode: ['updates' as const, 'custom' as const],
      streamSubgraphs: true,
    };
    const heard = await Array.fromAsync(runs.stream(null, 'outer', options));
    const inner = heard.filter(({ event }) => /^(custom|updates)\|inside:/.test(event));
    expectSame(
      inner.map(({ data }) => data),
      [{ heard: 'oh' }, { shout: { word: 'OH' } }, { breathe: {} }],
    );
  }),
  ...sdkCases('a failed run ends its stream with the error', async ({ runs }) => {
    const input = { input: 'x', fail: 'no ink' };
    const heard: StreamEvent[] = await Array.fromAsync(runs.stream(null, 'greeter', { input, streamMode: 'values' }));
    expectSame(heard.at(-1)?.data, { error: 'RequestedFailure', message: 'no ink' });
  }),
  ...sdkCases('`runs.joinStream` with a list of modes', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    const streamMode: StreamMode[] = ['updates', 'values', 'custom'];
    await using gate = await startGate();
    const { run_id } = await runs.create(on, 'slow', { input: { each: 1, until: gate.url }, streamMode });
    const heard: StreamEvent[] = [];
    for await (const { event, data } of runs.joinStream(on, run_id, { streamMode: ['updates', 'values'] })) {
      heard.push({ event, data });
      gate.open();
    }
    expectSame(new Set(namesOf(heard)), new Set(['metadata', 'updates', 'values']));
  }),
  ...sdkCases('`runs.joinStream` after `lastEventId`', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    await using gate = await startGate();
    let run_id = '';
    const before: StreamEvent[] = [];
    const cut = new AbortController();
    for await (const event of runs.stream(on, 'slow', {
      input: { each: 1, until: gate.url },
      streamMode: 'updates',
      streamResumable: true,
      onDisconnect: 'continue',
      onRunCreated: (run) => (run_id = run.run_id),
      signal: cut.signal,
    })) {
      before.push(event);
      if (event.event === 'updates') break;
    }
    cut.abort();
    gate.open();
    const after: StreamEvent[] = await Array.fromAsync(
      runs.joinStream(on, run_id, { lastEventId: before.at(-1)?.id ?? '' }),
    );
    expectSame(
      after.map(({ data }) => Object.keys(Object(data)).join()),
      ['second', 'third'],
    );
  }),
  ...sdkCases('`threads.joinStream` has the events of every run', async ({ runs, threads }) => {
    const { thread_id: on } = await threads.create();
    const stop = new AbortController();
    const heard = (async () => {
      for await (const { event, data } of threads.joinStream(on, { signal: stop.signal }))
        if (event === 'values' || event === 'updates') return data;
      return undefined;
    })();
    // Several, because nothing signals that the stream is open.
    const over = new AbortController();
    void heard.finally(() => over.abort()).catch(() => {});
    for (let n = 0; n < 10 && !over.signal.aborted; n++) await runs.wait(on, 'greeter', { input: { input: 'Ada' } });
    const late = sleep(3_000).then(() => stop.abort());
    expectSame(fieldOf(await heard, 'input'), 'Ada');
    await late;
  }),
];
