import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { connectAgentServer, type AgentServerClient } from '../../src/client/agent.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { readDesired } from '../../src/deploy/file/read-desired.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { StreamMode } from '../../src/contract/agent/stream-event.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import type { Verdict } from '../../src/deploy/rules/verdict-types.ts';
import { smoke } from '../../src/deploy/smoke/smoke.ts';
import { askAsTheApp } from '../app/verify/small-app.ts';
import { eventsOfModes } from './agent-clients/streams.ts';
import {
  installPublicAgentServer,
  startPublicAgentServer,
  type PublicAgentServer,
} from './start-public-agent-server.ts';

// The public JavaScript agent server, in a package of its own: our client was not written for our own server only.

let server: PublicAgentServer;
let agent: AgentServerClient;

// Installing takes as long as the registry does.
beforeAll(async () => {
  await installPublicAgentServer();
  server = await startPublicAgentServer('echo-agent', 'support-agent');
  agent = connected(server.url);
});

afterAll(async () => {
  await agent?.close();
  await server?.stop();
});

const connected = (url: string): AgentServerClient =>
  connectAgentServer({ url, userAgent: 'landfall/test', env: {}, retry: { attempts: 1 } });

const requested = (tests: readonly SmokeTest[], whom = agent): Promise<Verdict> =>
  smoke({ tests, agent: whom, clock: systemClock, random: () => 0.5 });

/** The smoke tests of an example's deploy file, as every entry point reads them. */
function smokeTestsOf(example: string): readonly SmokeTest[] {
  const path = '.github/landfall.yml';
  const text = readFileSync(join(resolve(import.meta.dirname, '../../examples'), example, path), 'utf8');
  const read = readDesired({ inputs: {}, file: { text, path } });
  if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join('; '));
  return read.deployments.flatMap(({ smokeTests }) => smokeTests);
}

const hello: SmokeTest = {
  name: 'says hello',
  assistant: 'echo',
  thread: false,
  input: { input: 'Ada' },
  streamModes: ['updates', 'values'],
  expect: [
    { kind: 'status', equals: 'success' },
    { kind: 'value', path: '$.output', test: { kind: 'equals', value: 'hello Ada' } },
  ],
  attempts: 1,
  timeoutMs: 20_000,
};

describe('smoke tests', () => {
  test.each(['echo-agent', 'support-agent'])('of %s all pass', async (example) => {
    const tests = smokeTestsOf(example);
    expect(tests.length).toBeGreaterThan(1);
    const verdict = await requested(tests);
    expect(verdict.tests.filter(({ verdict: { kind } }) => kind !== 'passed')).toEqual([]);
    expect(verdict).toMatchObject({ kind: 'passed', tests: tests.map(({ name }) => ({ name, attempts: 1 })) });
  });

  test('report the time to the first and last event, not to the end of the connection', async () => {
    const [tested] = (await requested([{ ...hello, input: { input: 'Ada', sleep_ms: 300 } }])).tests;
    if (tested?.verdict.kind !== 'passed') throw new Error(JSON.stringify(tested));
    const { firstEventMs = Infinity, totalMs } = tested.verdict;
    expect(firstEventMs).toBeLessThan(totalMs);
    expect(totalMs - firstEventMs).toBeGreaterThan(250);
  });

  test("fail with the agent's own error", async () => {
    const verdict = await requested([{ ...hello, input: { input: 'Ada', fail: 'no ink' } }]);
    expect(verdict).toMatchObject({
      kind: 'failed',
      tests: [{ verdict: { held: [{ held: false, seen: 'error (RequestedFailure: no ink)' }, { held: false }] } }],
    });
  });

  test('fail on another answer', async () => {
    const verdict = await requested([{ ...hello, input: { input: 'Eve' } }]);
    expect(verdict).toMatchObject({
      kind: 'failed',
      tests: [{ verdict: { held: [{ held: true }, { held: false, seen: expect.stringContaining('hello Eve') }] } }],
    });
  });

  test('fail on a missing graph, because the server reports that', async () => {
    expect(await requested([{ ...hello, assistant: 'missing' }])).toMatchObject({ kind: 'failed' });
  });

  test('are unproven if the server is unreachable', async () => {
    const gone = await unusedPort();
    try {
      expect(await requested([hello], gone)).toMatchObject({
        kind: 'unproven',
        tests: [{ verdict: { why: expect.stringContaining('refused') } }],
      });
    } finally {
      await gone.close();
    }
  });

  test('leave no thread and no assistant behind', async () => {
    const before = await there();
    expect(await requested([{ ...hello, thread: true, context: { greeting: 'hello' } }])).toMatchObject({
      kind: 'passed',
    });
    expect(await there()).toEqual(before);
  });
});

describe('smoke tests of the App', () => {
  const reply = hello.expect;

  test('run in the background, wake the App by webhook, and leave nothing behind', async () => {
    const before = await there();
    const ownContext = { ...hello, context: { greeting: 'hello' } };
    const { verdict, stored, logged } = await askAsTheApp(agent, [hello, ownContext]);
    expect(verdict).toMatchObject({ kind: 'passed', tests: [{ attempts: 1 }, { attempts: 1 }] });
    expect(logged).toEqual(Array.from({ length: 2 }, () => 'an agent reported the end of a run: success, no error'));
    expect(stored.every(({ withoutWebhook }) => withoutWebhook === false)).toBe(true);
    expect(await there()).toEqual(before);
  });

  test("fail with the agent's own error, whatever the webhook reports", async () => {
    const { verdict, logged } = await askAsTheApp(agent, [{ ...hello, input: { input: 'Ada', fail: 'no ink' } }]);
    expect(verdict).toMatchObject({
      kind: 'failed',
      tests: [{ verdict: { held: [{ held: false, seen: expect.stringContaining('no ink') }, { held: false }] } }],
    });
    expect(logged).toEqual(['an agent reported the end of a run: error, with an error']);
  });

  test('read the stream if only that has the answer', async () => {
    const early = { kind: 'first-event', withinMs: 20_000 } as const;
    const { verdict, logged } = await askAsTheApp(agent, [{ ...hello, expect: [...reply, early] }]);
    expect([verdict.kind, logged]).toEqual(['passed', []]);
  });
});

/** The ids of all assistants and threads of the server. */
async function there(): Promise<string[]> {
  const assistants = await agent.searchAssistants({ limit: 1000 });
  const search = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"limit":1000}' };
  const reply: unknown = await (await fetch(`${server.url}/threads/search`, search)).json();
  const threads = z.array(z.object({ thread_id: z.string() })).parse(reply);
  return [...assistants.map(({ assistant_id }) => assistant_id), ...threads.map(({ thread_id }) => thread_id)].sort();
}

/** A client of an address without a listener. */
async function unusedPort(): Promise<AgentServerClient> {
  const port = await new Promise<number>((found, fail) => {
    const probe = createServer().on('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => (address && typeof address !== 'string' ? found(address.port) : fail(new Error('no port'))));
    });
  });
  return connected(`http://127.0.0.1:${port}`);
}

describe('streams', () => {
  const question = { messages: [{ role: 'user', content: 'When does my parcel arrive?' }] };
  test.concurrent.each<[StreamMode, readonly string[]]>([...eventsOfModes, ['custom', []]])(
    'of the mode %s are read to their end, on a thread and without',
    async (mode, names) => {
      const request = { assistant_id: 'support', input: question, stream_mode: [mode] };
      const { thread_id: threadId } = await agent.createThread({});
      for (const thread of [threadId, undefined]) {
        const seen: string[] = [];
        for await (const { event } of agent.streamRun(request, thread)) seen.push(event);
        expect(seen[0]).toBe('metadata');
        // A run without a thread keeps no checkpoints.
        const expected = mode === 'checkpoints' && thread === undefined ? [] : names;
        expect(new Set(seen.slice(1))).toEqual(new Set(expected));
      }
      await agent.deleteThread(threadId);
    },
  );

  test('return the tokens of a model one after another', async () => {
    const words: string[] = [];
    const request = { assistant_id: 'support', input: question, stream_mode: ['messages-tuple' as const] };
    for await (const { event, data } of agent.streamRun(request, undefined)) {
      const [message]: unknown[] = Array.isArray(data) ? data : [];
      if (event === 'messages' && typeof message === 'object' && message && 'content' in message) {
        words.push(String(message.content));
      }
    }
    expect(words.length).toBeGreaterThan(5);
    expect(words.join('')).toContain('Parcels leave the same day and arrive within two days.');
  });

  test('of a failed run end with the error', async () => {
    const request = { assistant_id: 'echo', input: { input: 'x', fail: 'no ink' }, stream_mode: ['updates' as const] };
    const events = await Array.fromAsync(agent.streamRun(request, undefined));
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: 'RequestedFailure', message: 'no ink' } });
  });
});

describe.concurrent('runs', () => {
  const request = { assistant_id: 'echo', input: { input: 'Ada' } };
  const failing = { assistant_id: 'echo', input: { input: 'Ada', fail: 'no ink' } };

  test('are waited for, with and without a thread; the thread keeps the result', async () => {
    const { thread_id: threadId, status } = await agent.createThread({});
    expect(status).toBe('idle');
    for (const thread of [threadId, undefined]) {
      expect(await agent.waitRun(request, thread)).toMatchObject({ kind: 'values', values: { output: 'hello Ada' } });
      expect(await agent.waitRun(failing, thread)).toEqual({
        kind: 'error',
        error: { error: 'RequestedFailure', message: 'no ink' },
      });
    }
    const state = await agent.getThreadState(threadId);
    expect(state.values).toMatchObject({ output: 'hello Ada', steps: ['prepare', 'answer', 'prepare'] });
    expect(await agent.getThread(threadId)).toMatchObject({ thread_id: threadId, status: 'error' });
    await agent.deleteThread(threadId);
    expect(await failure(agent.getThread(threadId))).toMatchObject({ kind: 'missing', status: 404 });
  });

  test('continue in the background, and are joined', async () => {
    const { thread_id: threadId } = await agent.createThread({});
    const started = await agent.createRun({ assistant_id: 'echo', input: { input: 'Ada', sleep_ms: 300 } }, threadId);
    expect(started).toMatchObject({ thread_id: threadId, status: 'pending' });
    expect(await agent.joinRun(threadId, started.run_id)).toMatchObject({ kind: 'values' });
    expect(await agent.getRun(threadId, started.run_id)).toMatchObject({ status: 'success' });
  });

  test('can be cancelled', async () => {
    const { thread_id: threadId } = await agent.createThread({});
    const started = await agent.createRun(
      { assistant_id: 'echo', input: { input: 'Ada', sleep_ms: 60_000 } },
      threadId,
    );
    await agent.cancelRun(threadId, started.run_id, { wait: true });
    expect(await agent.getRun(threadId, started.run_id)).toMatchObject({ status: 'interrupted' });
  });
});

describe('reads errors in every format', () => {
  const nowhere = '00000000-0000-4000-8000-000000000000';
  const request = { assistant_id: 'echo', input: { input: 'Ada' } };

  test.each<[string, () => Promise<unknown>, object]>([
    ['a thread that is not there', () => agent.getThread(nowhere), { kind: 'missing', status: 404 }],
    ['an assistant that is not there', () => agent.getAssistant(nowhere), { kind: 'missing', status: 404 }],
    [
      'a run of an assistant that is not there',
      () => agent.waitRun({ ...request, assistant_id: nowhere }, undefined),
      { kind: 'missing', status: 404 },
    ],
    ['a run on a thread that is not there', () => agent.waitRun(request, nowhere), { kind: 'rejected', status: 422 }],
    [
      'an id that is none',
      () => agent.getThread('not-a-uuid'),
      { kind: 'rejected', problems: [{ loc: ['thread_id'] }] },
    ],
  ])('%s', async (_, call, expected) => {
    const error = await failure(call());
    expect(error).toMatchObject({ effect: 'none', ...expected });
    expect(error.detail ?? error.problems[0]?.msg).not.toBe('');
  });

  test('a thread id that is taken, and a busy thread', async () => {
    const { thread_id: threadId } = await agent.createThread({});
    expect(await failure(agent.createThread({ thread_id: threadId }))).toMatchObject({ kind: 'conflict', status: 409 });
    const slow = await agent.createRun({ assistant_id: 'echo', input: { input: 'Ada', sleep_ms: 60_000 } }, threadId);
    const another = agent.createRun({ ...request, multitask_strategy: 'reject' }, threadId);
    expect(await failure(another)).toMatchObject({ kind: 'rejected', status: 422, effect: 'none' });
    await agent.cancelRun(threadId, slow.run_id);
  });
});

/** The `ServiceError` that a call ends in; any other end fails the test. */
async function failure(call: Promise<unknown>): Promise<ServiceError> {
  const end: unknown = await call.then(
    (value) => new Error(`it answered ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (end instanceof ServiceError) return end;
  throw end;
}

test('assistants are created, found, read and removed', async () => {
  const made = await agent.createAssistant({ graph_id: 'echo', name: 'polite', context: { greeting: 'good day' } });
  expect(made).toMatchObject({ graph_id: 'echo', name: 'polite', context: { greeting: 'good day' } });
  expect(await agent.getAssistant(made.assistant_id)).toEqual(made);
  expect(await agent.searchAssistants({ graph_id: 'echo', limit: 100 })).toContainEqual(made);
  expect(await agent.waitRun({ assistant_id: made.assistant_id, input: { input: 'Ada' } }, undefined)).toMatchObject({
    values: { output: 'good day Ada' },
  });
  await agent.deleteAssistant(made.assistant_id);
  expect(await failure(agent.getAssistant(made.assistant_id))).toMatchObject({ kind: 'missing' });
});

test('reads health and info', async () => {
  await agent.ok();
  expect(await agent.info()).toMatchObject({ version: expect.any(String) });
});
