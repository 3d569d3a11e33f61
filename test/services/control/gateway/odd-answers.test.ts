import { once } from 'node:events';
import { Agent, request as send, type IncomingMessage } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { apiKey, deploymentId, listen, listenAsGateway, type GatewayParty } from './parties.ts';

const atTheEnd: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of atTheEnd.splice(0)) await close();
});

const key = { 'x-api-key': apiKey };

/** Everything that the gateway sends over a raw connection until it closes. */
async function rawAnswer(address: string, headers: string): Promise<string> {
  const { hostname, port, pathname } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: here\r\nX-Api-Key: ${apiKey}\r\n${headers}\r\n`);
  return text(socket);
}

/** A gateway with one agent behind it; both end with the test. */
async function inFront(agent: { origin: string; close: () => Promise<void> }): Promise<GatewayParty> {
  const gateway = await listenAsGateway();
  gateway.gateway.switchTo(deploymentId, { origin: agent.origin, token: 'token' });
  atTheEnd.push(
    () => gateway.close(),
    () => agent.close(),
  );
  return gateway;
}

/** An agent that writes its raw response itself. */
async function writingAgent(answer: string): Promise<GatewayParty> {
  const end = (socket: Socket): void => void socket.end(Buffer.from(answer, 'latin1'));
  return inFront(
    await started(createServer((socket) => socket.on('error', () => undefined).once('data', () => end(socket)))),
  );
}

async function started(agent: Server): Promise<{ origin: string; close: () => Promise<void> }> {
  await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve));
  const address = agent.address();
  if (address === null || typeof address === 'string') throw new Error('the agent listens on no port');
  return { origin: `http://127.0.0.1:${address.port}`, close: async () => void agent.close() };
}

const plainAnswer = (text: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;

test.each([
  ['an invalid status', 'HTTP/1.1 099 Strange\r\ncontent-length: 0\r\n\r\n'],
  ['no status', 'HTTP/1.1 000 Nothing\r\ncontent-length: 0\r\n\r\n'],
  ['an upgrade', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: own\r\n\r\nhello'],
  ['an upgrade without a protocol', 'HTTP/1.1 101 Switching\r\n\r\nhello'],
  ['more headers than a server accepts', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}\r\n`],
  ['no HTTP', 'hello\r\n\r\n'],
  ['a control character in a header', 'HTTP/1.1 200 OK\r\nx-one: a\x01b\r\ncontent-length: 2\r\n\r\nok'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok'],
  ['a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
])('responds with 502 to %s and continues to serve', async (_, answer) => {
  const { address } = await writingAgent(answer);
  for (let times = 0; times < 2; times += 1) {
    expect((await fetch(`${address}/ok`, { headers: key })).status).toBe(502);
  }
});

test.each([
  ['a control character', 'O\x01K'],
  ['a line feed', 'O\nK'],
  ['a byte beyond ASCII', 'O\x80K'],
  ['nothing', ''],
])('a reason phrase with %s fails only its own response', async (_, reason) => {
  const { address } = await writingAgent(`HTTP/1.1 200 ${reason}\r\ncontent-length: 2\r\n\r\nok`);
  for (let times = 0; times < 2; times += 1) {
    const response = await fetch(`${address}/ok`, { headers: key });
    expect([
      [200, 'OK'],
      [502, 'Bad Gateway'],
    ]).toContainEqual([response.status, response.statusText]);
    await response.text();
  }
});

test('an invalid reason phrase on a preflight fails only its own response', async () => {
  const { address } = await writingAgent('HTTP/1.1 204 N\x01o\r\naccess-control-allow-origin: *\r\n\r\n');
  const question = { origin: 'https://page.example', 'access-control-request-method': 'GET' };
  for (let times = 0; times < 2; times += 1) {
    const response = await fetch(`${address}/ok`, { method: 'OPTIONS', headers: question });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  }
});

test('bytes after a response are not read as the next response', async () => {
  const connections: Socket[] = [];
  const agent = createServer((socket) => {
    connections.push(socket);
    socket.on('error', () => undefined).on('data', () => socket.write(plainAnswer('own')));
  });
  const { address } = await inFront(await started(agent));
  const ask = async (): Promise<string> => (await fetch(`${address}/ok`, { headers: key })).text();
  expect(await ask()).toBe('own');
  const [first] = connections;
  if (!first) throw new Error('the agent has no connection');
  const closed = once(first, 'close');
  first.write(plainAnswer('another'));
  await closed;
  expect([await ask(), connections.length]).toEqual(['own', 2]);
});

test('closes the connection if the caller requests it', async () => {
  const { address } = await inFront(await listen((_request, response) => response.end('all of it')));
  const answer = await rawAnswer(`${address}/ok`, 'Connection: close\r\n');
  expect(answer).toMatch(/\r\nconnection: close\r\n.*all of it/is);
});

test.each(['HEAD', 'GET'])('a response without a body to %s keeps the connection open', async (method) => {
  const { address, server, logged } = await inFront(
    await listen((_request, response) => response.writeHead(204).end()),
  );
  let connections = 0;
  server.on('connection', () => (connections += 1));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let times = 0; times < 50; times += 1) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      send(`${address}/ok`, { method, agent, headers: key }).on('response', resolve).on('error', reject).end();
    });
    expect([response.statusCode, await text(response)]).toEqual([204, '']);
  }
  agent.destroy();
  expect([connections, logged]).toEqual([1, []]);
});
