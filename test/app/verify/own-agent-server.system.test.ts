import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectAgentServer, type AgentServerClient } from '../../../src/client/agent.ts';
import type { SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import { serveAgent, type Serving } from '../../services/agent/serving.ts';
import { askAsTheApp } from './small-app.ts';

let server: Serving;
let agent: AgentServerClient;

beforeAll(async () => {
  server = await serveAgent();
  agent = connectAgentServer({ url: server.url, userAgent: 'landfall/test', env: {} });
});
afterAll(async () => {
  await agent.close();
  await server.close();
});

const hello: SmokeTest = {
  name: 'says hello',
  assistant: 'echo',
  thread: true,
  input: { input: 'Ada' },
  streamModes: ['values'],
  expect: [{ kind: 'value', path: '$.output', test: { kind: 'equals', value: 'hello Ada' } }],
  attempts: 1,
  timeoutMs: 20_000,
};
const threads = async (): Promise<unknown> => {
  const search = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  return (await fetch(`${server.url}/threads/search`, search)).json();
};
const kindOf = async (requested: SmokeTest) => (await askAsTheApp(agent, [requested])).verdict.tests[0]?.verdict;

test('runs in the background at our own agent server, and leaves nothing behind', async () => {
  const before = (await agent.searchAssistants({ limit: 100 })).length;
  const { verdict, stored } = await askAsTheApp(agent, [hello, { ...hello, context: { greeting: 'hello' } }]);
  expect(verdict).toMatchObject({ kind: 'passed', tests: [{ attempts: 1 }, { attempts: 1 }] });
  expect(stored.some(({ under }) => JSON.stringify(under)?.includes('"started"'))).toBe(true);
  expect([await threads(), (await agent.searchAssistants({ limit: 100 })).length]).toEqual([[], before]);
});

test('sends a series at once to our own agent server, and leaves nothing behind', async () => {
  const series = { kind: 'all-right', tries: 9, atOnce: 4 } as const;
  const { verdict, stored } = await askAsTheApp(agent, [{ ...hello, series }]);
  expect(verdict).toMatchObject({ kind: 'passed', tests: [{ attempts: 9 }] });
  expect(stored.some(({ under }) => Array.isArray(under) && under.length === 4)).toBe(true);
  expect(await threads()).toEqual([]);
});

test('a run that fails is failed, with the words of the agent', async () => {
  const verdict = await kindOf({ ...hello, input: { input: 'Ada', fail: 'no ink' } });
  expect(verdict).toMatchObject({
    kind: 'failed',
    held: [{ seen: 'error (RequestedFailure: no ink)' }, { held: false }],
  });
});

test('a run that waits for a person is interrupted, although it ended well', async () => {
  const requests = { ...hello, assistant: 'interrupts', input: { request: 'rest' } };
  const path = '$.__interrupt__[0].value.question';
  expect(
    await kindOf({
      ...requests,
      expect: [
        { kind: 'status', equals: 'interrupted' },
        { kind: 'value', path, test: { kind: 'equals', value: 'May I rest?' } },
      ],
    }),
  ).toMatchObject({ kind: 'passed' });
});

test('a run that takes too long proves nothing, is cancelled, and loses its thread', async () => {
  const verdict = await kindOf({ ...hello, input: { input: 'Ada', sleep_ms: 30_000 }, timeoutMs: 700 });
  expect(verdict).toMatchObject({ kind: 'unproven' });
  expect(await threads()).toEqual([]);
});

test('a test of stream events listens to the stream', async () => {
  const expected = [...hello.expect, { kind: 'first-event' as const, withinMs: 20_000 }];
  const verdict = await kindOf({ ...hello, expect: expected });
  expect(verdict).toMatchObject({ kind: 'passed', firstEventMs: expect.any(Number) });
  expect(await threads()).toEqual([]);
});

test('a missing graph is a failure, since the server says so', async () => {
  expect(await kindOf({ ...hello, assistant: 'unknown' })).toMatchObject({ kind: 'failed' });
});
