import { expect, test } from 'vitest';
import { eventsOf, UUID, until } from './fixture.ts';
import type { Given } from './fixture.ts';

/**
 * Streamed runs: their events, the order, and the content.
 *
 * @param engine `isPython`: the engine for Python also streams what each node returns, and nothing of subgraphs unasked.
 */
export function streamPromises(agent: Given, { isPython = false } = {}): void {
  const echo = { assistant_id: 'echo', input: { input: 'Ada' } };

  test(
    'updates are streamed by node, after an event with the run id',
    {
      meta: {
        claims: [
          'agent.endpoints.thread-stream',
          'agent.stream.metadata-first',
          'agent.stream.metadata-run-id',
          'agent.stream.type-metadata',
          'agent.stream.updates-type',
          'agent.stream.updates-by-node',
          'agent.stream.type-updates',
          'agent.runs.stream-mode-updates',
        ],
      },
    },
    async () => {
      const { thread_id } = await agent().createThread({});
      expect(await eventsOf(agent(), { ...echo, stream_mode: ['updates'] }, thread_id)).toEqual([
        { id: '0', event: 'metadata', data: { run_id: expect.stringMatching(UUID), attempt: 1 } },
        {
          id: '1',
          event: 'updates',
          data: { prepare: { steps: ['prepare'], options: {}, sleep_ms: null, fail: null } },
        },
        { id: '2', event: 'updates', data: { answer: { steps: ['answer'], output: 'hello Ada' } } },
      ]);
    },
  );

  test(
    'the whole state is streamed after each step, also by default',
    { meta: { claims: ['agent.runs.stream-mode-values', 'agent.endpoints.stateless-stream'] } },
    async () => {
      const events = await eventsOf(agent(), { ...echo, stream_mode: 'values' });
      expect(events.map(({ event }) => event)).toEqual(['metadata', 'values', 'values', 'values']);
      expect(events.at(-1)).toMatchObject({ data: { output: 'hello Ada', steps: ['prepare', 'answer'] } });
      expect((await eventsOf(agent(), echo)).map(({ event }) => event)).toEqual([
        'metadata',
        'values',
        'values',
        'values',
      ]);
    },
  );

  test(
    'several modes interleave, and no other is streamed',
    { meta: { claims: ['agent.runs.stream-mode'] } },
    async () => {
      const events = await eventsOf(agent(), { ...echo, stream_mode: ['updates', 'values', 'tasks'] });
      expect(events.map(({ event }) => event)).toEqual([
        'metadata',
        'values',
        'tasks',
        'updates',
        'tasks',
        'values',
        'tasks',
        'updates',
        'tasks',
        'values',
      ]);
    },
  );

  test(
    'execution events are streamed, mixed with the other modes',
    { meta: { claims: ['agent.runs.stream-mode-events', 'agent.stream.type-events'] } },
    async () => {
      const events = await eventsOf(agent(), { ...echo, stream_mode: ['updates', 'events'] });
      const executed = events.flatMap(({ event, data }) => (event === 'events' ? [Object(data)] : []));
      // The engine's name in JavaScript; in Python the graph's, as on the public server.
      const run = isPython ? 'echo' : 'LangGraph';
      expect(executed.map(({ event, name }) => `${event} ${name}`)).toEqual([
        `on_chain_start ${run}`,
        ...['prepare', 'answer'].flatMap((node) => [
          `on_chain_start ${node}`,
          ...(isPython ? [`on_chain_stream ${node}`] : []),
          `on_chain_end ${node}`,
        ]),
        `on_chain_end ${run}`,
      ]);
      expect(executed[0]).toMatchObject({ run_id: Object(events[0]?.data)['run_id'], metadata: { graph_id: 'echo' } });
      const updates = events.flatMap(({ event, data }) => (event === 'updates' ? Object.keys(Object(data)) : []));
      expect(updates).toEqual(['prepare', 'answer']);
      expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['metadata', 'events', 'updates']));
    },
  );

  test(
    'a model’s message is streamed in growing chunks, then complete',
    { meta: { claims: ['agent.runs.stream-mode-messages'] } },
    async () => {
      const input = { messages: [{ role: 'user', content: 'hi' }] };
      const events = await eventsOf(agent(), { assistant_id: 'chat', input, stream_mode: ['messages'] });
      const names = events.map(({ event }) => event);
      expect(names.slice(0, 3)).toEqual(['metadata', 'messages/complete', 'messages/metadata']);
      expect(events[1]?.data).toMatchObject([{ type: 'human', content: 'hi' }]);
      expect(names.slice(3, -1).every((name) => name === 'messages/partial')).toBe(true);
      expect(names.at(-1)).toBe('messages/complete');
      const said = events.slice(3).map(({ data }) => JSON.parse(JSON.stringify(data))[0]);
      expect(said[0]).toMatchObject({ type: 'ai', content: 'G' });
      expect(said.at(-2)).toMatchObject({ content: 'Good day to you' });
      expect(said.at(-1)).toMatchObject({ type: 'ai', content: 'Good day to you', id: said[0].id });
    },
  );

  test('message chunks are tuples on request', async () => {
    const input = { messages: [{ role: 'user', content: 'hi' }] };
    const events = await eventsOf(agent(), { assistant_id: 'chat', input, stream_mode: ['messages-tuple'] });
    const pieces = events.slice(1).map(({ event, data }) => ({ event, piece: JSON.parse(JSON.stringify(data)) }));
    expect(new Set(pieces.map(({ event }) => event))).toEqual(new Set(['messages']));
    expect(pieces.map(({ piece }) => piece[0].content).join('')).toBe('Good day to you');
    expect(pieces[0]?.piece[1]).toMatchObject({ langgraph_node: 'say', graph_id: 'chat' });
  });

  test('events of subgraphs have their namespace, on request', async () => {
    const run = {
      assistant_id: 'outer',
      input: { word: 'hey' },
      stream_mode: ['updates', 'custom'] as ('updates' | 'custom')[],
    };
    const named = async (stream_subgraphs: boolean) =>
      (await eventsOf(agent(), { ...run, stream_subgraphs })).map(({ event }) => event.replace(/:[0-9a-f-]{36}/g, ''));
    expect(await named(true)).toEqual(['metadata', 'custom|inside', 'updates|inside', 'updates']);
    expect(await named(false)).toEqual(['metadata', ...(isPython ? [] : ['custom']), 'updates']);
  });

  test('checkpoint and debug events name their checkpoint and hide engine internals', async () => {
    const { thread_id } = await agent().createThread({});
    const events = await eventsOf(agent(), { ...echo, stream_mode: ['checkpoints', 'debug'] }, thread_id);
    const last = events.findLast(({ event }) => event === 'checkpoints');
    expect(last).toMatchObject({
      data: {
        next: [],
        values: { output: 'hello Ada' },
        checkpoint: { thread_id, checkpoint_id: expect.any(String) },
        parent_checkpoint: { thread_id },
      },
    });
    expect(events.some(({ event, data }) => event === 'debug' && JSON.stringify(data).includes('"task_result"'))).toBe(
      true,
    );
    expect(JSON.stringify(events)).not.toMatch(/__pregel_(?!pull)|callbacks/);
  });

  test(
    'the stream of a failed run ends with its error',
    { meta: { claims: ['agent.errors.stream-failure'] } },
    async () => {
      const events = await eventsOf(agent(), {
        ...echo,
        input: { input: 'x', fail: 'no ink' },
        stream_mode: ['updates'],
      });
      expect(events.map(({ event }) => event)).toEqual(['metadata', 'updates', 'error']);
      expect(events.at(-1)?.data).toEqual({ error: 'RequestedFailure', message: 'no ink' });
    },
  );

  test('the outcome of a run is stored before its stream ends', async () => {
    const { thread_id } = await agent().createThread({});
    const [first] = await eventsOf(agent(), { ...echo, stream_mode: ['updates'] }, thread_id);
    const runId = String(Object(first?.data)['run_id']);
    expect(await agent().getRun(thread_id, runId)).toMatchObject({ status: 'success' });
    expect(await agent().getThread(thread_id)).toMatchObject({ status: 'idle', values: { output: 'hello Ada' } });
  });

  test.each([
    ['cancel', 60_000, 'interrupted'],
    ['continue', 400, 'success'],
  ] as const)('a run without its client follows on_disconnect: %s', async (on_disconnect, sleep_ms, status) => {
    const { thread_id } = await agent().createThread({});
    let runId = '';
    const run = {
      assistant_id: 'echo',
      input: { input: 'x', sleep_ms },
      stream_mode: ['updates'] as 'updates'[],
      on_disconnect,
    };
    for await (const { event, data } of agent().streamRun(run, thread_id)) {
      if (event === 'metadata') runId = String(Object(data)['run_id']);
      else break;
    }
    const ended = await until(async () => {
      const seen = await agent().getRun(thread_id, runId);
      return seen.status === 'running' || seen.status === 'pending' ? undefined : seen.status;
    });
    expect(ended).toBe(status);
  });
}
