import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { connectAgentServer, type AgentServerClient } from '../../../../../src/client/agent.ts';
import { describePython } from '../../../../python/needs-python.ts';
import { assistantPromises } from '../../promises/assistants.ts';
import { cronPromises } from '../../promises/crons.ts';
import type { Given } from '../../promises/fixture.ts';
import { runPromises } from '../../promises/runs.ts';
import { streamPromises } from '../../promises/streams.ts';
import { threadPromises } from '../../promises/threads.ts';
import { serveAgent, type Serving } from '../../serving.ts';

describePython('the agent server with the same graphs in Python, over HTTP', (python) => {
  let serving: Serving;
  let agent: AgentServerClient;
  beforeAll(async () => {
    serving = await serveAgent({ configPath: join(import.meta.dirname, 'agent/langgraph.json'), python });
    agent = connectAgentServer({ url: serving.url, userAgent: 'landfall-tests' });
  });
  afterAll(async () => {
    await agent.close();
    await serving.close();
  });
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
    streamPromises(given, { isPython: true });
  });
  describe('crons', () => {
    cronPromises(given);
  });
});
