import { afterAll, beforeAll, describe } from 'vitest';
import { bothWays } from './both-ways.ts';
import type { Way } from './both-ways.ts';
import { assistantPromises } from './promises/assistants.ts';
import { cronPromises } from './promises/crons.ts';
import type { Given } from './promises/given.ts';
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

describe.each(bothWays)('the agent server, %s', (_, open) => {
  let way: Way;
  beforeAll(() => {
    way = open(serving);
  });
  afterAll(() => way.close());
  const agent: Given = () => way.agent;

  describe('assistants', () => {
    assistantPromises(agent);
  });
  describe('threads', () => {
    threadPromises(agent);
  });
  describe('runs', () => {
    runPromises(agent);
  });
  describe('streams', () => {
    streamPromises(agent);
  });
  describe('crons', () => {
    cronPromises(agent);
  });
});
