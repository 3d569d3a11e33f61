// Clients that others wrote, on an agent that the real service deployed: they know its address and a key.
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assistantsOf } from './assistants.ts';
import { cronsOf } from './crons.ts';
import { groups, methodsOf, openDeployed, refusalOf, watchedClient } from './deployed.ts';
import type { Deployed, Watched } from './deployed.ts';
import { protocolsOf } from './protocols.ts';
import { runsOf } from './runs.ts';
import { storeOf } from './store.ts';
import { streamsOf } from './streams.ts';
import { threadsOf } from './threads.ts';

let deployed: Deployed;
let watched: Watched;
beforeAll(async () => {
  deployed = await openDeployed();
  watched = watchedClient(deployed.url, deployed.apiKey);
}, 150_000);
afterAll(() => deployed?.close());

const client = () => watched.client;
const receiver = () => deployed.receiver;

describe.concurrent('the official client, at the address of a deployment', () => {
  describe('crons', () => {
    cronsOf(client, receiver);
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
    streamsOf(client);
  });
  describe('store', () => {
    storeOf(client);
  });
  protocolsOf(() => deployed);

  test('[agent.auth.every-request] nobody is let in without a key that is known', async () => {
    const nobody = new Client({ apiUrl: deployed.url, apiKey: null, callerOptions: { maxRetries: 0 } });
    const stranger = new Client({ apiUrl: deployed.url, apiKey: 'guessed', callerOptions: { maxRetries: 0 } });
    for (const { assistants, runs, store } of [nobody, stranger]) {
      expect((await refusalOf(assistants.search())).status).toBe(401);
      expect((await refusalOf(runs.wait(null, 'greeter', { input: { input: 'x' } }))).status).toBe(401);
      expect((await refusalOf(store.listNamespaces())).status).toBe(401);
    }
  });
});

// The client speaks another protocol of events by `threads.stream`, which the public description does not have.
const beyondTheDescription = ['threads.stream'];

test('no method of the client was left out', () => {
  const offered = groups.flatMap((group) => methodsOf(client(), group).map((method) => `${group}.${method}`));
  expect(offered.filter((name) => !watched.called.has(name))).toEqual(beyondTheDescription);
});
