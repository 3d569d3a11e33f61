// Clients that run in Node, unmodified, with both servers: their rows of docs/clients.md.
import { afterAll, beforeAll, vi } from 'vitest';
import { installPackages } from '../install-packages.ts';
import { packages } from './sdk.ts';
import { sdkOtherCases } from './sdk-others.ts';
import { sdkRunCases } from './sdk-runs.ts';
import { sdkStreamCases } from './sdk-streams.ts';
import { openServers } from './servers.ts';
import type { BothServers } from './servers.ts';
import { testClients } from './table.ts';

// The cases mostly wait, so they run concurrently.
vi.setConfig({ maxConcurrency: 12 });

let servers: BothServers | undefined;
// Installing takes as long as the registry does.
beforeAll(async () => {
  await installPackages(packages);
  servers = await openServers();
}, 300_000);
afterAll(() => servers?.close());

testClients([...sdkRunCases, ...sdkStreamCases, ...sdkOtherCases], () => {
  if (!servers) throw new Error('the servers did not start');
  return servers;
});
