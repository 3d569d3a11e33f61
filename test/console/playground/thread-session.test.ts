import { expect, test, vi } from 'vitest';
import { ThreadSession, type ThreadAgent } from '../../../src/console/pages/playground/thread-session.ts';
import type { Run } from '../../../src/contract/agent/run.ts';
import type { StreamEvent } from '../../../src/contract/agent/stream-event.ts';

const token = (id: number, content: string): StreamEvent => ({
  id: String(id),
  event: 'messages',
  data: [{ id: 'm', type: 'ai', content, tool_call_chunks: [] }, {}],
});
const metadata: StreamEvent = { id: '0', event: 'metadata', data: { run_id: 'r', attempt: 1 } };
const runOf = (status: string): Run => ({
  run_id: 'r',
  thread_id: 't',
  assistant_id: 'a',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  status,
});

interface Connection {
  events: StreamEvent[];
  /** Thrown after the events; otherwise the stream ends. */
  error?: Error;
}

const refused = (status: number): Error => Object.assign(new Error('refused'), { status });

/** An agent with one run, whose stream breaks off as given; `statuses` are those that the run has after each. */
function agentWith(connections: Connection[], statuses: string[]): { agent: ThreadAgent; lastEventIds: string[] } {
  const lastEventIds: string[] = [];
  const agent: ThreadAgent = {
    startRun: async () => runOf('pending'),
    thread: async () => ({ thread_id: 't', created_at: '', updated_at: '', status: 'idle' }),
    history: async () => [],
    runs: async () => [runOf('running')],
    run: async () => runOf(statuses.shift() ?? 'success'),
    runError: async () => undefined,
    cancel: async () => undefined,
    async *follow(_threadId, _runId, lastEventId) {
      lastEventIds.push(lastEventId);
      const { events, error } = connections.shift() ?? { events: [] };
      yield* events;
      if (error) throw error;
    },
  };
  return { agent, lastEventIds };
}

/** Every text that was shown, in order. */
function textsOf(session: ThreadSession): string[] {
  const texts: string[] = [];
  session.view.subscribe((view) => {
    const text = view?.streamed[0]?.shown.text;
    if (text !== undefined && texts.at(-1) !== text) texts.push(text);
  });
  return texts;
}

test('continues after a lost connection where it was, without losing or doubling a token', async () => {
  vi.useFakeTimers();
  const { agent, lastEventIds } = agentWith(
    [
      { events: [metadata, token(1, 'a'), token(2, 'b')], error: new Error('lost') },
      { events: [token(2, 'b'), token(3, 'c')], error: refused(503) },
      { events: [token(4, 'd')] },
    ],
    ['success'],
  );
  const session = new ThreadSession(agent, 't');
  const texts = textsOf(session);
  await session.open();
  await vi.runAllTimersAsync();
  expect(lastEventIds).toEqual(['-1', '2', '3']);
  expect(texts.at(-1)).toBe('abcd');
  expect([session.run.value?.status, session.isFollowing.value]).toEqual(['success', false]);
  vi.useRealTimers();
});

test('starts again with what is kept when events in between are gone', async () => {
  vi.useFakeTimers();
  const { agent, lastEventIds } = agentWith(
    [{ events: [metadata, token(1, 'a')], error: refused(422) }, { events: [metadata, token(5, 'e')] }],
    ['success'],
  );
  const session = new ThreadSession(agent, 't');
  const texts = textsOf(session);
  await session.open();
  await vi.runAllTimersAsync();
  expect([lastEventIds, texts.at(-1)]).toEqual([['-1', '-1'], 'e']);
  vi.useRealTimers();
});

test('follows on while a run that its stream left has not ended', async () => {
  vi.useFakeTimers();
  const { agent, lastEventIds } = agentWith([{ events: [metadata] }, { events: [] }], ['running', 'interrupted']);
  const session = new ThreadSession(agent, 't');
  await session.start({ assistantId: 'a', input: {} });
  await vi.runAllTimersAsync();
  expect([lastEventIds.length, session.run.value?.status]).toEqual([2, 'interrupted']);
  vi.useRealTimers();
});

test.each([
  ['a lost permission', refused(403)],
  ['a redirect', Object.assign(refused(502), { isRedirect: true })],
])('says once why a run is not followed after %s, until it is dismissed', async (_, error) => {
  const { agent, lastEventIds } = agentWith([{ events: [metadata], error }, { events: [token(1, 'a')] }], []);
  let changes = 0;
  const thread: ThreadAgent['thread'] = async (id, signal) => {
    changes += 1;
    return { ...(await agent.thread(id, signal)), updated_at: String(changes) };
  };
  const session = new ThreadSession({ ...agent, thread }, 't');
  await session.open();
  await vi.waitFor(() => expect(session.isFollowing.value).toBe(false));
  await session.refresh();
  await session.refresh();
  expect(session.refusal.value).toEqual({ runId: 'r', error });
  expect([lastEventIds.length, session.isReconnecting.value]).toEqual([1, false]);
  await session.followAgain();
  await vi.waitFor(() => expect(session.run.value?.status).toBe('success'));
  expect(session.refusal.value).toBeUndefined();
});

test('forgets a refusal when another run is started', async () => {
  const { agent } = agentWith([{ events: [], error: refused(403) }], []);
  const session = new ThreadSession({ ...agent, startRun: async () => ({ ...runOf('success'), run_id: 'r2' }) }, 't');
  await session.open();
  await vi.waitFor(() => expect(session.refusal.value).toBeDefined());
  await session.start({ assistantId: 'a', input: {} });
  expect(session.refusal.value).toBeUndefined();
});

test('follows a run once that a refresh notices before the response that started it', async () => {
  const { agent, lastEventIds } = agentWith([{ events: [metadata, token(1, 'a')] }], ['success']);
  const response = Promise.withResolvers<Run>();
  const ended = Promise.withResolvers<Run>();
  const session = new ThreadSession({ ...agent, startRun: () => response.promise, run: () => ended.promise }, 't');
  const started = session.start({ assistantId: 'a', input: {} });
  await session.refresh();
  response.resolve(runOf('pending'));
  await started;
  ended.resolve(runOf('success'));
  await vi.waitFor(() => expect(session.isFollowing.value).toBe(false));
  expect([lastEventIds.length, session.run.value?.status]).toEqual([1, 'success']);
});

test('adds older states once, also when requested twice', async () => {
  const { agent } = agentWith([], []);
  const states = ['1', '2'].map((checkpoint_id) => ({ values: {}, next: [], checkpoint: { checkpoint_id } }));
  const history: ThreadAgent['history'] = async (_, { before }) => states.slice(before ? 1 : 0, before ? 2 : 1);
  const session = new ThreadSession({ ...agent, history, runs: async () => [] }, 't');
  await session.open();
  await Promise.all([session.loadMoreStates(), session.loadMoreStates()]);
  expect(session.states.value.map(({ checkpoint }) => checkpoint?.checkpoint_id)).toEqual(['1', '2']);
});
