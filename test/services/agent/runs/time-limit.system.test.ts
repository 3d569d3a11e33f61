import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectAgentServer } from '../../../../src/client/agent.ts';
import type { AgentServerClient } from '../../../../src/client/agent.ts';
import { runLimitOf, takeEnvironment } from '../../../../src/services/agent/environment.ts';
import { eventsOf } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent({ runLimitMs: 1500 });
});
afterAll(() => serving.close());

const slow = { assistant_id: 'echo', input: { input: 'x', sleep_ms: 60_000 } };
const tooLong = {
  error: 'TimeoutError',
  message:
    'The run took longer than 1.5 seconds, the most that a run may take on this server (BG_JOB_TIMEOUT_SECS, or LANDFALL_RUN_TIMEOUT_SECONDS for a server started by hand).',
};

describe.concurrent('a run that exceeds its time limit, over HTTP', () => {
  let agent: AgentServerClient;
  beforeAll(() => {
    agent = connectAgentServer({ url: serving.url, userAgent: 'landfall-tests' });
  });
  afterAll(() => agent.close());

  test(
    'fails with a timeout error for clients that wait, join or follow',
    { meta: { claims: ['agent.errors.timeout-type'] } },
    async () => {
      const [a, b, c] = await Promise.all([1, 2, 3].map(async () => (await agent.createThread({})).thread_id));
      const run = await agent.createRun(slow, String(c));
      const [waited, stateless, events, joined] = await Promise.all([
        agent.waitRun(slow, a),
        agent.waitRun(slow, undefined),
        eventsOf(agent, { ...slow, stream_mode: ['updates'] }, b),
        agent.joinRun(String(c), run.run_id),
      ]);
      for (const result of [waited, stateless, joined]) expect(result).toEqual({ kind: 'error', error: tooLong });
      expect(events.map(({ event }) => event)).toEqual(['metadata', 'updates', 'error']);
      expect(events.at(-1)?.data).toEqual(tooLong);
    },
  );

  test(
    'has the status timeout, and its thread the status error',
    { meta: { claims: ['agent.runs.status-other-words'] } },
    async () => {
      const { thread_id } = await agent.createThread({});
      const run = await agent.createRun(slow, thread_id);
      await agent.joinRun(thread_id, run.run_id);
      expect(await agent.getRun(thread_id, run.run_id)).toMatchObject({ status: 'timeout' });
      expect(await agent.getThread(thread_id)).toMatchObject({ status: 'error' });
      const next = { assistant_id: 'echo', input: { input: 'next' } };
      expect(await agent.waitRun(next, thread_id)).toMatchObject({ kind: 'values', values: { output: 'hello next' } });
    },
  );
});

describe('the time limit of a run', () => {
  const needed = { LANDFALL_GRAPH_CONFIG: '/a/langgraph.json', DATABASE_URI: 'postgres://db/x' };
  test.each([
    ['an hour by default', {}, 3_600_000],
    ['the value of the public variable', { BG_JOB_TIMEOUT_SECS: '90' }, 90_000],
    [
      'the value of our own variable, before the public one',
      { BG_JOB_TIMEOUT_SECS: '90', LANDFALL_RUN_TIMEOUT_SECONDS: '1.5' },
      1500,
    ],
  ])('is %s', (_, env, ms) => expect(runLimitOf(takeEnvironment({ ...needed, ...env }))).toBe(ms));

  test.each([
    ['zero', '0', 'LANDFALL_RUN_TIMEOUT_SECONDS must be more than 0 seconds'],
    ['not a number', 'soon', 'LANDFALL_RUN_TIMEOUT_SECONDS must be a number of seconds'],
    ['more than a timer allows', '3000000', 'LANDFALL_RUN_TIMEOUT_SECONDS must be at most 2073600 seconds'],
  ])('can’t be %s', (_, LANDFALL_RUN_TIMEOUT_SECONDS, reported) =>
    expect(() => takeEnvironment({ ...needed, LANDFALL_RUN_TIMEOUT_SECONDS })).toThrow(reported),
  );
});
