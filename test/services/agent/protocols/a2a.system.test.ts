import { randomUUID } from 'node:crypto';
import { AgentCard, Role, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import {
  answerOf,
  byId,
  cardPath,
  data,
  dataOf,
  factory,
  message,
  request,
  send,
  streamed,
  text,
  textsOf,
} from './a2a-speaking.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

/** A client of one protocol version for an assistant. */
type Connect = (assistant: string) => Promise<Client>;

const ways: [string, Connect][] = [
  ['of version 1.0', (assistant) => factory.createFromUrl(serving.url, cardPath(assistant))],
  [
    'of version 0.3',
    async (assistant) => {
      const card = AgentCard.fromJSON(await (await fetch(`${serving.url}${cardPath(assistant)}`)).json());
      const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === '0.3');
      return factory.createFromAgentCard({ ...card, supportedInterfaces });
    },
  ],
];

describe.each(ways)('the official client, over HTTP, %s', (_, connect) => {
  test(
    'a message returns a completed task with the agent’s response',
    { meta: { claims: ['agent.groups.a2a'] } },
    async () => {
      const said = message([text('Good day')]);
      const task = await send(await connect('chat'), said);
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(answerOf(task)).toBe('Good day to you');
      expect(task.history.map(({ role, parts }) => [role, textsOf(parts)])).toEqual([
        [Role.ROLE_USER, 'Good day'],
        [Role.ROLE_AGENT, 'Good day to you'],
      ]);
      expect(task.history[0]?.messageId).toBe(said.messageId);
    },
  );

  test('a context is a thread, and a task is its run', async () => {
    const task = await send(await connect('chat'), message([text('Hello')]));
    const run = await fetch(`${serving.url}/threads/${task.contextId}/runs/${task.id}`);
    expect(await run.json()).toMatchObject({ status: 'success', thread_id: task.contextId });
  });

  test('a context keeps its messages, and each task returns its own part', async () => {
    const client = await connect('chat');
    const first = await send(client, message([text('One')]));
    const second = await send(client, message([text('Two')], { contextId: first.contextId }));
    expect([second.contextId, second.id === first.id]).toEqual([first.contextId, false]);
    expect(second.history.map(({ parts }) => textsOf(parts))).toEqual(['Two', 'Good day to you']);
    const state = await (await fetch(`${serving.url}/threads/${first.contextId}/state`)).json();
    expect(state).toMatchObject({ values: { messages: { length: 4 } } });
    // A task keeps its result, whatever happens later on the thread.
    const before = await client.getTask({ ...byId(first.id) });
    expect(before.history.map(({ parts }) => textsOf(parts))).toEqual(['One', 'Good day to you']);
    expect(answerOf(before)).toBe('Good day to you');
  });

  test('data is the input of a graph without messages, and its state the result', async () => {
    const task = await send(await connect('echo'), message([data({ input: 'world' })]));
    expect(dataOf(task)).toMatchObject({ output: 'hello world' });
  });

  test('rejects text for a graph without messages, and says what to send', async () => {
    await expect(send(await connect('echo'), message([text('world')]))).rejects.toThrow('data part');
  });

  test('a failed run is a failed task with its error', async () => {
    const client = await connect('echo');
    const task = await send(client, message([data({ input: 'x', fail: 'too bad' })]));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
    expect(textsOf(task.status?.message?.parts)).toBe('RequestedFailure: too bad');
    expect((await client.getTask(byId(task.id))).status?.state).toBe(TaskState.TASK_STATE_FAILED);
  });

  test('without blocking, returns at once; the task can be read later', async () => {
    const client = await connect('echo');
    const task = await send(client, message([data({ input: 'later', sleep_ms: 300 })]), { returnImmediately: true });
    expect(task.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
    const done = await until(async () => {
      const seen = await client.getTask(byId(task.id));
      return seen.status?.state === TaskState.TASK_STATE_COMPLETED ? seen : undefined;
    });
    expect(dataOf(done)).toMatchObject({ output: 'hello later' });
  });

  test('an interrupt requests input, and the reply continues the same task', async () => {
    const client = await connect('interrupts');
    const requested = await send(client, message([data({ request: 'sing' })]));
    expect(requested.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(requested.status?.message?.parts[0]?.content).toMatchObject({ value: { question: 'May I sing?' } });
    expect((await client.getTask(byId(requested.id))).status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const answered = await send(
      client,
      message([text('please do')], { taskId: requested.id, contextId: requested.contextId }),
    );
    expect(answered.id).toBe(requested.id);
    expect(dataOf(answered)).toMatchObject({ answer: 'sing: please do' });
    expect(dataOf(await client.getTask(byId(requested.id)))).toMatchObject({ answer: 'sing: please do' });
    await expect(send(client, message([text('again')], { taskId: requested.id }))).rejects.toThrow('has ended');
  });

  test('a stream has the task, text chunks, the full response and the end', async () => {
    const client = await connect('chat');
    const payloads = await streamed(client.sendMessageStream(request(message([text('Hello')]))));
    const [first, ...rest] = payloads;
    const last = rest.at(-1);
    expect(first).toMatchObject({ $case: 'task', value: { status: { state: TaskState.TASK_STATE_WORKING } } });
    const artifacts = rest.flatMap((payload) => (payload.$case === 'artifactUpdate' ? [payload.value] : []));
    const pieces = artifacts.filter(({ lastChunk }) => !lastChunk);
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.map(({ artifact }) => textsOf(artifact?.parts)).join('')).toBe('Good day to you');
    expect(pieces.map(({ append }) => append)).toEqual(pieces.map((_piece, index) => index > 0));
    expect(artifacts.filter(({ lastChunk }) => lastChunk)).toMatchObject([
      { append: false, artifact: { parts: [{ content: { value: 'Good day to you' } }] } },
    ]);
    expect(last).toMatchObject({ $case: 'statusUpdate', value: { status: { state: TaskState.TASK_STATE_COMPLETED } } });
  });

  test('a stream ends with the failure or the question', async () => {
    const ends = async (assistant: string, given: object) => {
      const client = await connect(assistant);
      return (await streamed(client.sendMessageStream(request(message([data(given)]))))).at(-1);
    };
    expect(await ends('echo', { input: 'x', fail: 'too bad' })).toMatchObject({
      value: {
        status: {
          state: TaskState.TASK_STATE_FAILED,
          message: { parts: [{ content: { value: 'RequestedFailure: too bad' } }] },
        },
      },
    });
    expect(await ends('interrupts', { request: 'sing' })).toMatchObject({
      value: { status: { state: TaskState.TASK_STATE_INPUT_REQUIRED } },
    });
  });

  test('an active task can be followed and cancelled', async () => {
    const client = await connect('echo');
    const task = await send(client, message([data({ input: 'x', sleep_ms: 60_000 })]), { returnImmediately: true });
    const following = client.resubscribeTask(byId(task.id));
    expect((await following.next()).value).toMatchObject({ payload: { $case: 'task' } });
    await until(async () => {
      const { status } = await client.getTask(byId(task.id));
      return status?.state === TaskState.TASK_STATE_WORKING ? true : undefined;
    });
    const cancelled = await client.cancelTask({ ...byId(task.id), metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect((await streamed(following)).at(-1)).toMatchObject({
      $case: 'statusUpdate',
      value: { status: { state: TaskState.TASK_STATE_CANCELED } },
    });
    await expect(client.cancelTask({ ...byId(task.id), metadata: undefined })).rejects.toThrow(/ended/);
  });

  test('a task continues after its client disconnects', async () => {
    const client = await connect('echo');
    const contextId = randomUUID();
    const left = new AbortController();
    const said = message([data({ input: 'alone', sleep_ms: 700 })], { contextId });
    const stream = client.sendMessageStream(request(said), { signal: left.signal });
    const first = await stream.next();
    const payload = first.done ? undefined : first.value.payload;
    left.abort();
    await stream.return(undefined).catch(() => undefined);
    const id = payload?.$case === 'task' ? payload.value.id : '';
    const done = await until(async () => {
      const seen = await client.getTask(byId(id));
      return seen.status?.state === TaskState.TASK_STATE_COMPLETED ? seen : undefined;
    });
    expect(dataOf(done)).toMatchObject({ output: 'hello alone' });
  });

  test('returns only the requested length of the history', async () => {
    const client = await connect('chat');
    const task = await send(client, message([text('Hello')]), { historyLength: 1 });
    expect(task.history.map(({ parts }) => textsOf(parts))).toEqual(['Good day to you']);
    expect((await client.getTask({ ...byId(task.id), historyLength: 0 })).history).toEqual([]);
  });

  test('returns no task of another assistant, and no unknown one', async () => {
    const task = await send(await connect('chat'), message([text('Hello')]));
    const other = await connect('echo');
    await expect(other.getTask(byId(task.id))).rejects.toThrow(task.id);
    await expect(other.getTask(byId(randomUUID()))).rejects.toThrow('no task');
    await expect(other.getTask(byId('tomorrow'))).rejects.toThrow('no task');
  });
});
