import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { createHttpServer } from '../../../../src/services/control/server.ts';
import { apiKey, deploymentId, listen, listenAsGateway, type Party } from './parties.ts';

const parties: Party[] = [];
const servers: ReturnType<typeof createHttpServer>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  for (const party of parties.splice(0)) await party.close();
});

test.each([
  ['passes the base path to an agent as its prefix', '/api-host', {}, '/api-host'],
  ['ignores the prefix of a caller', '/api-host', { 'x-forwarded-prefix': '/outer' }, '/api-host'],
  ['adds nothing without a base path', '', { 'x-forwarded-prefix': '/outer' }, ''],
])('%s', async (_, basePath, headers, prefix) => {
  const seen: unknown[] = [];
  const agent = await listen((request, response) => {
    seen.push(request.url, request.headers['x-forwarded-prefix']);
    response.end();
  });
  const behind = await listenAsGateway();
  parties.push(agent, behind);
  behind.gateway.switchTo(deploymentId, { origin: agent.origin, token: 'token' });
  const fetchOwn = () => expect.unreachable();
  const server = createHttpServer({ fetch: fetchOwn, agents: behind.gateway.handle, basePath });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = `http://127.0.0.1:${Object(server.address()).port}${basePath}/agents/${deploymentId}`;
  await fetch(`${address}/ok`, { headers: { ...headers, 'x-api-key': apiKey } });
  expect(seen).toEqual(['/ok', `${prefix}/agents/${deploymentId}`]);
});
