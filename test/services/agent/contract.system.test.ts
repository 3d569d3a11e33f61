import { afterAll, beforeAll, describe } from 'vitest';
import { connectAgentServer } from '../../../src/client/agent.ts';
import type { AgentServerClient } from '../../../src/client/agent.ts';
import { assistantPromises } from './promises/assistants.ts';
import { cronPromises } from './promises/crons.ts';
import type { Given } from './promises/fixture.ts';
import { runPromises } from './promises/runs.ts';
import { streamPromises } from './promises/streams.ts';
import { threadPromises } from './promises/threads.ts';
import { serveAgent } from './serving.ts';
import type { Serving } from './serving.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

describe('the agent server, over HTTP', () => {
  let agent: AgentServerClient;
  beforeAll(() => {
    agent = connectAgentServer({ url: serving.url, userAgent: 'landfall-tests' });
  });
  afterAll(() => agent.close());
  const given: Given = () => agent;

  describe('assistants', () => {
    assistantPromises(given);
  });
  describe('threads', () => {
    threadPromises(given);
  });
  describe('runs', () => {
    runPromises(given);
  });
  describe('streams', () => {
    streamPromises(given);
  });
  describe('crons', () => {
    cronPromises(given);
  });
});
