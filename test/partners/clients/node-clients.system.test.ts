// Clients that run in Node, unmodified, with both servers: their rows of docs/clients.md.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, vi } from 'vitest';
import { installPackages } from '../install-packages.ts';
import type { ClientCase } from './case.ts';
import { chatAppCases } from './chat-apps.ts';
import { remoteGraphCases } from './remote-graph.ts';
import { packages } from './sdk.ts';
import { sdkOtherCases } from './sdk-others.ts';
import { sdkRunCases } from './sdk-runs.ts';
import { sdkStreamCases } from './sdk-streams.ts';
import { openServers } from './servers.ts';
import type { BothServers } from './servers.ts';
import { testClients } from './table.ts';
import { threadStreamCases } from './thread-streams.ts';

// The cases mostly wait, so they run concurrently.
vi.setConfig({ maxConcurrency: 12 });

// Installing takes as long as the registry does; before it, these can't be imported.
await installPackages(packages);
const { agUiCases }: { agUiCases: ClientCase[] } = await import(fileOf('ag-ui.mjs'));
const { aiSdkCases }: { aiSdkCases: ClientCase[] } = await import(fileOf('ai-sdk.mjs'));

let servers: BothServers | undefined;
beforeAll(async () => {
  servers = await openServers();
  // The public server reads the schemas of a graph with a compiler, once for each call under way: here for one.
  for (const graph of ['helper', 'outer']) await fetch(`${servers.theirs.url}/assistants/${graph}/schemas`);
});
afterAll(() => servers?.close());

const cases = [
  ...sdkRunCases,
  ...sdkStreamCases,
  ...sdkOtherCases,
  ...threadStreamCases,
  ...remoteGraphCases,
  ...agUiCases,
  ...aiSdkCases,
  ...chatAppCases,
];
testClients(cases, () => {
  if (!servers) throw new Error('the servers did not start');
  return servers;
});

function fileOf(name: string): string {
  return pathToFileURL(join(packages, name)).href;
}
