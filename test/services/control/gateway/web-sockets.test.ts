import { once } from 'node:events';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createHttpServer } from '../../../../src/services/control/server.ts';
import { steppedClock } from '../api-keys/stepped-clock.ts';
import { apiKey, deploymentId, listen, listenAsGateway, type Party } from './parties.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const party of opened.splice(0)) await party.close();
});

/** An agent that sends back every message, and refuses connections at `/no`. */
async function echoAgent() {
  const headers: unknown[] = [];
  const agent = await listen((_, response) => response.writeHead(426).end('{"detail":"no socket"}'));
  const sockets = new WebSocketServer({ noServer: true });
  agent.server.on('upgrade', (incoming, connection, head) => {
    headers.push(incoming.headers);
    if (incoming.url === '/no') connection.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\n{}');
    else
      sockets.handleUpgrade(incoming, connection, head, (socket) => socket.on('message', (data) => socket.send(data)));
  });
  opened.push({ close: () => agent.close() });
  return { ...agent, headers, sockets };
}

/** The service's own server, with a gateway to an agent. */
async function serviceFor(agent: Pick<Party, 'origin'> | undefined, ...settings: Parameters<typeof listenAsGateway>) {
  const party = await listenAsGateway(...settings);
  const { gateway } = party;
  const server = createHttpServer({ fetch: () => new Response('own'), agents: gateway.handle, basePath: '/base' });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It listens on no port.');
  opened.push(party);
  opened.push({
    close: async () => {
      gateway.withdraw(deploymentId)?.close();
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  });
  if (agent) gateway.switchTo(deploymentId, { origin: agent.origin, token: 'the-token' });
  const connect = (path: string, headers: Record<string, string> = { 'x-api-key': apiKey }) =>
    new WebSocket(`ws://127.0.0.1:${address.port}${path}`, { headers });
  return { gateway, connect, server, port: address.port };
}

const agentPath = `/base/agents/${deploymentId}`;

/** The response to a refused handshake. */
async function refusal(socket: WebSocket): Promise<{ status: number | undefined; body: string }> {
  const [, response] = await once(socket, 'unexpected-response');
  const body = (await Array.fromAsync(response)).join('');
  return { status: response.statusCode, body };
}

test('forwards a WebSocket to the agent, without the key', async () => {
  const agent = await echoAgent();
  const { connect } = await serviceFor(agent);
  const socket = connect(`${agentPath}/threads/a/stream/events?x=1`);
  await once(socket, 'open');
  socket.send('hello');
  const [data] = await once(socket, 'message');
  expect(String(data)).toBe('hello');
  expect(agent.headers).toMatchObject([{ 'x-landfall-agent-token': 'the-token', 'x-forwarded-prefix': agentPath }]);
  expect(agent.headers[0]).not.toHaveProperty('x-api-key');
  const [closing] = [...agent.sockets.clients];
  closing?.close(1001, 'bye');
  const [code] = await once(socket, 'close');
  expect(code).toBe(1001);
});

test('is closed by the route, and does not keep it from being drained', async () => {
  const agent = await echoAgent();
  const { connect, gateway } = await serviceFor(agent);
  const socket = connect(agentPath);
  await once(socket, 'open');
  const route = gateway.withdraw(deploymentId);
  await route?.drained();
  expect(route?.inFlight()).toBe(0);
  route?.close();
  const [code] = await once(socket, 'close');
  expect(code).toBe(1006);
  await expect.poll(() => agent.sockets.clients.size).toBe(0);
});

test('closes the WebSocket of the agent when the client has gone', async () => {
  const agent = await echoAgent();
  const { connect } = await serviceFor(agent);
  const socket = connect(agentPath);
  await once(socket, 'open');
  socket.terminate();
  await expect.poll(() => agent.sockets.clients.size).toBe(0);
});

test.for([
  ['without a key', agentPath, {}, 401, /X-Api-Key/],
  ['to another path of the service', '/base/v2/deployments', {}, 200, /own/],
  ['outside of the base path', '/elsewhere', {}, 404, /base/],
  ['that the agent refuses', `${agentPath}/no`, { 'x-api-key': apiKey }, 403, /\{\}/],
] as const)('answers a request for a WebSocket %s', async ([, path, headers, status, body]) => {
  const { connect } = await serviceFor(await echoAgent());
  const refused = await refusal(connect(path, { ...headers }));
  expect(refused).toEqual({ status, body: expect.stringMatching(body) });
});

test('answers a request for a WebSocket of a deployment with nothing live', async () => {
  const { connect } = await serviceFor(undefined);
  expect(await refusal(connect(agentPath))).toEqual({ status: 503, body: expect.stringContaining('live') });
});

test('cuts a request for a WebSocket that the agent does not answer when the server closes', async () => {
  const upgrading = Promise.withResolvers<Duplex>();
  const agent = await listen(() => undefined);
  agent.server.on('upgrade', (_, connection) => upgrading.resolve(connection));
  opened.push(agent);
  const { connect, server } = await serviceFor(agent);
  const failed = once(connect(agentPath), 'error');
  const unanswered = await upgrading.promise;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await Promise.all([closed, failed.catch(() => undefined)]);
  expect(server.listening).toBe(false);
  unanswered.destroy();
});

test.for([
  ['GET', 'h2c'],
  ['POST', 'websocket'],
] as const)('answers a %s that asks for %s as if it did not', async ([method, upgrade]) => {
  const { port } = await serviceFor(undefined);
  const headers = { connection: 'upgrade', upgrade };
  const sent = request({ host: '127.0.0.1', port, path: '/base/', method, headers, agent: false });
  sent.end();
  const [response] = await once(sent, 'response');
  expect([response.statusCode, (await Array.fromAsync(response)).join('')]).toEqual([200, 'own']);
});

test('ends a WebSocket once its caller would not be admitted any more', async () => {
  const { clock, advance } = steppedClock();
  let isAdmitted = true;
  const agent = await echoAgent();
  const { connect } = await serviceFor(agent, async () => (isAdmitted ? 'allowed' : 'missing'), clock);
  const socket = connect(agentPath);
  await once(socket, 'open');
  await advance(15_000);
  socket.send('still here');
  expect(String((await once(socket, 'message'))[0])).toBe('still here');
  isAdmitted = false;
  const closed = once(socket, 'close');
  await advance(15_000);
  await closed;
});
