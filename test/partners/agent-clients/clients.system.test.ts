// Third-party clients with an agent on the real service: they have only its address and a key.
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { assistantsOf } from './assistants.ts';
import { cronsOf } from './crons.ts';
import { groups, methodsOf, openDeployed, refusalOf, watchedClient } from './deployed.ts';
import type { Deployed, Watched } from './deployed.ts';
import { protocolsOf } from './protocols.ts';
import { runsOf } from './runs.ts';
import { storeOf } from './store.ts';
import { streamsOf } from './streams.ts';
import { threadsOf } from './threads.ts';

// The tests mostly wait, so they run concurrently.
vi.setConfig({ maxConcurrency: 12 });
let deployed: Deployed;
let watched: Watched;
beforeAll(async () => {
  deployed = await openDeployed();
  watched = watchedClient(deployed.url, deployed.apiKey);
});
afterAll(() => deployed?.close());

const client = () => watched.client;
const receiver = () => deployed.receiver;

describe.concurrent('the official client, at the address of a deployment', () => {
  describe('crons', () => {
    cronsOf(client);
  });
  describe('assistants', () => {
    assistantsOf(client);
  });
  describe('threads', () => {
    threadsOf(client);
  });
  describe('runs', () => {
    runsOf(client, receiver);
  });
  describe('streams', () => {
    streamsOf(client, () => deployed);
  });
  describe('store', () => {
    storeOf(client);
  });
  protocolsOf(() => deployed);

  test('a page of another origin sends a preflight without a key, then calls with one', async () => {
    const page = { origin: 'https://page.example' };
    const requested = await fetch(`${deployed.url}/runs/wait`, {
      method: 'OPTIONS',
      headers: {
        ...page,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    });
    expect([requested.status, await requested.text()]).toEqual([204, '']);
    expect(requested.headers.get('access-control-allow-headers')).toBe('content-type,x-api-key');
    expect(requested.headers.get('access-control-allow-methods')).toContain('POST');
    const call = (headers: Record<string, string>) =>
      fetch(`${deployed.url}/runs/wait`, {
        method: 'POST',
        headers: { ...page, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ assistant_id: 'greeter', input: { input: 'page' } }),
      });
    const answer = await call({ 'x-api-key': deployed.apiKey });
    expect([answer.headers.get('access-control-allow-origin'), await answer.json()]).toMatchObject([
      '*',
      { output: 'hello page' },
    ]);
    const refused = await call({});
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
  });

  test('nobody is let in without a key that is known', { meta: { claims: ['agent.auth.every-request'] } }, async () => {
    const anonymous = new Client({ apiUrl: deployed.url, apiKey: null, callerOptions: { maxRetries: 0 } });
    const stranger = new Client({ apiUrl: deployed.url, apiKey: 'guessed', callerOptions: { maxRetries: 0 } });
    for (const { assistants, runs, store } of [anonymous, stranger]) {
      expect((await refusalOf(assistants.search())).status).toBe(401);
      expect((await refusalOf(runs.wait(null, 'greeter', { input: { input: 'x' } }))).status).toBe(401);
      expect((await refusalOf(store.listNamespaces())).status).toBe(401);
    }
  });
});

test('every method of the client has a test', () => {
  const offered = groups.flatMap((group) => methodsOf(client(), group).map((method) => `${group}.${method}`));
  expect(offered.filter((name) => !watched.called.has(name))).toEqual([]);
});
