// Front-end libraries in a real browser: each page is of another origin than the agents.
import { afterAll, beforeAll } from 'vitest';
import { openServers } from '../clients/servers.ts';
import type { BothServers } from '../clients/servers.ts';
import { testClients } from '../clients/table.ts';
import { openBrowser } from './browser.ts';
import type { TestBrowser } from './browser.ts';
import manifest from './package.json' with { type: 'json' };
import { useStreamCases } from './use-stream-cases.ts';

let servers: BothServers | undefined;
let browser: TestBrowser | undefined;

// Installing takes as long as the registry does.
beforeAll(async () => {
  browser = await openBrowser(['react', 'sdk', 'svelte']);
  servers = await openServers();
});
afterAll(async () => {
  await Promise.allSettled([browser?.close(), servers?.close()]);
});

const opened = <T>(what: T | undefined): T => {
  if (what === undefined) throw new Error('It is not open yet.');
  return what;
};

const { dependencies } = manifest;
const libraries = [
  { client: '@langchain/react', version: dependencies['@langchain/react'], page: 'react' },
  { client: '@langchain/langgraph-sdk/react', version: dependencies['@langchain/langgraph-sdk'], page: 'sdk' },
  { client: '@langchain/svelte', version: dependencies['@langchain/svelte'], page: 'svelte' },
];
testClients(
  libraries.flatMap((library) => useStreamCases(library, () => opened(browser))),
  () => opened(servers),
);
