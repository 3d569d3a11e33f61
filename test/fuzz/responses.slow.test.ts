import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { connectAgents } from '../../app/create-app-work.ts';
import { systemClock } from '../../src/kit/clock.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import { sendTestRequest } from '../../src/deploy/smoke/send-test-request.ts';
import { longestTurnMs, longestTurnOf, watchLoop } from './loop-watch.ts';

const megabyte = 1024 * 1024;

/** Sends what it is given, on a thread of its own: its work does not count. */
const agentThread = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  let next = { status: 200, parts: [] };
  parentPort.on('message', (message) => {
    next = message;
    parentPort.postMessage('ready');
  });
  const server = createServer((request, response) => {
    request.resume().on('end', async () => {
      response.writeHead(next.status, { 'content-type': next.status === 200 ? 'text/event-stream' : 'application/json' });
      for (const [text, times] of next.parts) response.write(text.repeat(times));
      response.end();
    });
  }).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

const agents = connectAgents({ userAgent: 'landfall/test', apiKey: 'lsv2_pt_0123456789abcdef' });
const agent = new Worker(agentThread, { eval: true });
const listening = once(agent, 'message');
let url = '';
beforeAll(async () => {
  const [port]: number[] = await listening;
  url = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await agents.close();
  await agent.terminate();
});

const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;
const keys = (many: number): string => `{${Array.from({ length: many }, (_, at) => `"${at.toString(36)}":1`).join()}}`;

/** Parts of a response, each with how often it is repeated; as many values as are read, or more. */
const attacks: Readonly<Record<string, { status?: number; parts: [text: string, times: number][] }>> = {
  'very many values': { parts: [[event('values', keys(1_500_000)), 1]] },
  'as many values as are read': { parts: [[event('values', keys(29_000)), 1]] },
  'a long text': { parts: [[event('values', JSON.stringify('x'.repeat(15 * megabyte))), 1]] },
  'many nodes': { parts: [[event('updates', '{"a":1}'), 40_000]] },
  'many interrupts of many values': {
    parts: [
      [event('values', keys(29_000)), 1],
      [event('values', '{"__interrupt__":[]}'), 3_000],
    ],
  },
  'a long error': { status: 400, parts: [['%41\\u0041&amp;\\\\', megabyte]] },
};

const smokeTest: SmokeTest = {
  name: 'a',
  assistant: 'a',
  thread: false,
  input: 1,
  streamModes: ['values'],
  expect: [],
  attempts: 1,
  timeoutMs: 30_000,
};

test.each(Object.entries(attacks))(
  'no response of an agent holds the App: %s',
  async (_, { status = 200, parts }) => {
    const ready = once(agent, 'message');
    agent.postMessage({ status, parts }, []);
    await ready;
    const watch = watchLoop();
    onTestFinished(() => watch.stop());
    const request = () =>
      sendTestRequest(smokeTest, { agent: agents.at(url), clock: systemClock, left: () => undefined });
    expect(await longestTurnOf(watch, request)).toBeLessThan(longestTurnMs);
  },
  60_000,
);

test('a response with too many values is named as the reason', async () => {
  const ready = once(agent, 'message');
  agent.postMessage({ status: 200, parts: [[event('values', keys(31_000)), 1]] }, []);
  await ready;
  expect(
    await sendTestRequest(smokeTest, { agent: agents.at(url), clock: systemClock, left: () => undefined }),
  ).toMatchObject({
    kind: 'unreachable',
    why: expect.stringContaining('the event "values" holds more than 30000 values'),
  });
});
