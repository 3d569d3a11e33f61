// Clients that run in Node, unmodified, with both servers: their rows of docs/clients.md.
import { join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import { installPackages } from '../install-packages.ts';
import { sdkCases } from './sdk-cases.ts';
import { openServers } from './servers.ts';
import type { BothServers } from './servers.ts';
import { testClients } from './table.ts';

// The cases mostly wait, so they run concurrently.
vi.setConfig({ maxConcurrency: 12 });
const packages = join(import.meta.dirname, '../node-clients');

let servers: BothServers | undefined;
// Installing takes as long as the registry does.
beforeAll(async () => {
  await installPackages(packages);
  servers = await openServers();
}, 300_000);
afterAll(() => servers?.close());

testClients(sdkCases, () => {
  if (!servers) throw new Error('the servers did not start');
  return servers;
});
