import { Client, type StreamMode } from '@langchain/langgraph-sdk';
import { expect, test, vi } from 'vitest';
import { startGate } from '../clients/gate.ts';
import { refusalOf, type Deployed } from './deployed.ts';

interface Heard {
  id?: string | undefined;
  event: string;
  data: unknown;
}

/** The names of the events of each mode of a run with messages. */
export const eventsOfModes: readonly [StreamMode, string[]][] = [
  ['values', ['values']],
  ['updates', ['updates']],
  ['messages', ['messages/metadata', 'messages/partial', 'messages/complete']],
  ['messages-tuple', ['messages']],
  ['events', ['events']],
  ['debug', ['debug']],
  ['tasks', ['tasks']],
  ['checkpoints', ['checkpoints']],
];

/** All methods of the client for events of runs. */
export function streamsOf(given: () => Client, deployed: () => Deployed): void {
  const thread = async () => (await given().threads.create()).thread_id;
  const names = (heard: readonly Heard[]) => [...new Set(heard.map(({ event }) => event))];

  test('stream returns the events of each mode', async () => {
    const { runs } = given();
    const question = { messages: [{ role: 'user', content: 'hi' }] };
    const on = await thread();
    for (const [streamMode, expected] of eventsOfModes) {
      const heard: Heard[] = await Array.fromAsync(runs.stream(on, 'chat', { input: question, streamMode }));
      expect(heard[0]).toMatchObject({ event: 'metadata', data: { run_id: expect.any(String) } });
      expect(new Set(names(heard.slice(1)))).toEqual(new Set(expected));
    }
    const letters = await Array.fromAsync(runs.stream(null, 'chat', { input: question, streamMode: 'messages-tuple' }));
    expect(letters.filter(({ event }) => event === 'messages').length).toBeGreaterThan(5);
    expect(
      letters.map(({ data }) => (Array.isArray(data) ? String(Reflect.get(Object(data[0]), 'content')) : '')).join(''),
    ).toContain('Good day to you');
  });

  test("stream with subgraphs includes the subgraph's events and its own", async () => {
    const { runs } = given();
    const heard: Heard[] = [];
    for await (const { event, data } of runs.stream(null, 'outer', {
      input: { word: 'oh' },
      streamMode: ['updates', 'custom'],
      streamSubgraphs: true,
    }))
      heard.push({ event, data });
    expect(heard.find(({ event }) => event.startsWith('custom|inside'))?.data).toEqual({ heard: 'oh' });
    expect(heard.find(({ event }) => event.startsWith('updates|inside'))?.data).toEqual({ shout: { word: 'OH' } });
    expect(heard.at(-1)).toMatchObject({ event: 'updates', data: { inside: { word: 'OH' } } });
  });

  test('a failed run ends its stream with the error', async () => {
    const heard: Heard[] = await Array.fromAsync(
      given().runs.stream(await thread(), 'greeter', { input: { input: 'x', fail: 'no ink' }, streamMode: 'values' }),
    );
    expect(heard.at(-1)).toMatchObject({ event: 'error', data: { error: 'RequestedFailure', message: 'no ink' } });
  });

  test('joinStream follows a run, with and without earlier events', async () => {
    const { runs } = given();
    const on = await thread();
    await using gate = await startGate();
    const input = { each: 1, until: gate.url };
    const run = await runs.create(on, 'slow', { input, streamMode: ['updates', 'values'] });
    const heard: Heard[] = [];
    for await (const { event, data } of runs.joinStream(on, run.run_id, { streamMode: 'updates' })) {
      heard.push({ event, data });
      gate.open();
    }
    expect(names(heard)).toEqual(['metadata', 'updates']);
    expect(heard.at(-1)?.data).toEqual({ third: { steps: ['third'] } });
  });

  test('an interrupted stream resumes after the last event', async () => {
    const { runs } = given();
    const on = await thread();
    await using gate = await startGate();
    let run = { run_id: '' };
    const cut = new AbortController();
    const before: Heard[] = [];
    for await (const event of runs.stream(on, 'slow', {
      input: { each: 1, until: gate.url },
      streamMode: 'updates',
      streamResumable: true,
      onDisconnect: 'continue',
      onRunCreated: (made) => (run = made),
      signal: cut.signal,
    })) {
      before.push(event);
      if (event.event === 'updates') break;
    }
    cut.abort();
    gate.open();
    expect(names(before)).toEqual(['metadata', 'updates']);
    const lastEventId = before.at(-1)?.id ?? '';
    expect(lastEventId).not.toBe('');
    const after: Heard[] = await Array.fromAsync(runs.joinStream(on, run.run_id, { lastEventId }));
    expect(after.map(({ data }) => data)).toEqual([{ second: { steps: ['second'] } }, { third: { steps: ['third'] } }]);
    const whole: Heard[] = await Array.fromAsync(runs.joinStream(on, run.run_id, { lastEventId: '-1' }));
    expect(whole.map(({ data }) => data)).toEqual([...before, ...after].map(({ data }) => data));
    expect(await runs.get(on, run.run_id)).toMatchObject({ status: 'success' });
  });

  test('a thread is streamed by the thread-stream protocol', async () => {
    const stream = given().threads.stream({ assistantId: 'greeter' });
    try {
      // Asked for before the run, which may be over at once.
      const { output } = stream;
      const { run_id } = await stream.submitRun({ input: { input: 'Ada' } });
      expect(await output).toMatchObject({ output: 'hello Ada' });
      expect(await given().runs.get(stream.threadId, String(run_id))).toMatchObject({ status: 'success' });
    } finally {
      await stream.close();
    }
  });

  test('a thread is streamed over a WebSocket', async () => {
    const { url, apiKey } = deployed();
    const headers = { 'x-api-key': apiKey };
    // It takes no header with a key of its own.
    const client = new Client({ apiUrl: url, apiKey: null });
    const stream = client.threads.stream({
      assistantId: 'greeter',
      transport: 'websocket',
      webSocketFactory: (address) => new WebSocket(address, { headers }),
    });
    try {
      const { output } = stream;
      await stream.submitRun({ input: { input: 'Ada' } });
      expect(await output).toMatchObject({ output: 'hello Ada' });
    } finally {
      await stream.close();
    }
  });

  test('a stateless run is joined by its id alone', async () => {
    const { runs } = given();
    await using gate = await startGate();
    const made = await runs.create(null, 'slow', {
      input: { each: 1, until: gate.url },
      streamMode: 'updates',
      streamResumable: true,
    });
    const heard: Heard[] = [];
    for await (const { event, data } of runs.joinStream(null, made.run_id, { lastEventId: '-1' })) {
      heard.push({ event, data });
      gate.open();
    }
    expect(heard.at(-1)?.data).toEqual({ third: { steps: ['third'] } });
  });

  test('a disconnecting caller ends the run, or not, as requested', async () => {
    const { runs } = given();
    for (const [onDisconnect, each, status] of [
      ['cancel', 60_000, 'interrupted'],
      ['continue', 300, 'success'],
    ] as const) {
      const on = await thread();
      const gone = new AbortController();
      let runId = '';
      await refusalOf(
        (async () => {
          for await (const { event } of runs.stream(on, 'slow', {
            input: { each },
            streamMode: 'updates',
            onDisconnect,
            signal: gone.signal,
            onRunCreated: (run) => (runId = run.run_id),
          }))
            if (event === 'metadata') gone.abort();
        })(),
      );
      await vi.waitFor(async () => expect(await runs.get(on, runId)).toMatchObject({ status }), 30_000);
    }
  });

  test('cancelling a run ends its stream without an error, and joining may cancel it', async () => {
    const { runs } = given();
    const on = await thread();
    const run = await runs.create(on, 'slow', { input: { each: 60_000 }, streamMode: 'updates' });
    const listening: Promise<Heard[]> = Array.fromAsync(runs.joinStream(on, run.run_id));
    await vi.waitFor(async () => expect(await runs.get(on, run.run_id)).toMatchObject({ status: 'running' }), 30_000);
    await runs.cancel(on, run.run_id, true);
    expect((await listening).map(({ event }) => event)).toEqual(['metadata']);

    const other = await runs.create(on, 'slow', { input: { each: 60_000 }, streamMode: 'updates' });
    const gone = new AbortController();
    await refusalOf(
      (async () => {
        for await (const { event } of runs.joinStream(on, other.run_id, {
          cancelOnDisconnect: true,
          signal: gone.signal,
        }))
          if (event === 'metadata') gone.abort();
      })(),
    );
    await vi.waitFor(
      async () => expect(await runs.get(on, other.run_id)).toMatchObject({ status: 'interrupted' }),
      30_000,
    );
  });
}
