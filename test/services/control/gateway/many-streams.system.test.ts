import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { createServer as createRawServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { apiKey, deploymentId, listen, listenAsGateway, type GatewayParty, type Party } from './parties.ts';

const parties: Party[] = [];
afterEach(async () => {
  for (const party of parties.splice(0)) await party.close();
});

async function inFrontOf(origin: string): Promise<GatewayParty> {
  const gateway = await listenAsGateway();
  parties.push(gateway);
  gateway.gateway.switchTo(deploymentId, { origin, token: 'token' });
  return gateway;
}

async function anAgent(...listener: Parameters<typeof listen>): Promise<Party> {
  const party = await listen(...listener);
  parties.push(party);
  return party;
}

/** Starts a request to the agent over a connection of its own, or over one of the given agent's. */
async function begin(address: string, agent?: Agent): Promise<IncomingMessage> {
  const sent = request(address, { headers: { 'x-api-key': apiKey }, agent: agent ?? false }).end();
  const [response] = await once(sent, 'response');
  return response;
}

test('500 streams are open at the same time, and each one is complete', async () => {
  const open = new Set<() => void>();
  const agent = await anAgent((incoming, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('started ');
    open.add(() => response.end(`done ${incoming.url}`));
  });
  const { address, gateway } = await inFrontOf(agent.origin);
  const streams = await Promise.all(
    Array.from({ length: 500 }, async (_, at) => ({ at, response: await begin(`${address}/${at}`) })),
  );
  expect(open.size).toBe(500);
  const route = gateway.withdraw(deploymentId);
  expect(route?.inFlight()).toBe(500);
  for (const end of open) end();
  const texts = await Promise.all(
    streams.map(async ({ at, response }) => [at, String(Buffer.concat(await response.toArray()))] as const),
  );
  expect(texts.filter(([at, text]) => text !== `started done /${at}`)).toEqual([]);
  await route?.drained();
  expect(route?.inFlight()).toBe(0);
});

test('a slow reader slows only its own stream down, and nothing is buffered', async () => {
  const piece = Buffer.alloc(64 * 1_024, 'x');
  const pieces = 1_024;
  let written = 0;
  const agent = await anAgent((incoming, response) => {
    if (incoming.url !== '/long') return void response.end('quick');
    const writeOn = (): void => {
      while (written < pieces) {
        written += 1;
        if (!response.write(piece)) return void response.once('drain', writeOn);
      }
      response.end();
    };
    writeOn();
  });
  const { address } = await inFrontOf(agent.origin);
  const slow = await begin(`${address}/long`);
  slow.pause();
  let before = -1;
  while (before !== written) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  // The sockets' buffers hold a part of the 64 MB.
  expect(written * piece.length).toBeLessThan(24 * 1_048_576);
  expect(await (await fetch(`${address}/ok`, { headers: { 'x-api-key': apiKey } })).text()).toBe('quick');
  let read = 0;
  for await (const chunk of slow) read += Buffer.byteLength(chunk);
  expect(read).toBe(pieces * piece.length);
});

test('does not reuse a connection that the agent closes when idle', async () => {
  // Like an agent server in another language, it sends no keep-alive timeout.
  const idleMs = 4_500;
  let connections = 0;
  const server = createRawServer((socket) => {
    connections += 1;
    socket.setTimeout(idleMs, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const gateway = await inFrontOf(`http://127.0.0.1:${port}`);
  const ask = async (): Promise<number> =>
    (await fetch(`${gateway.address}/ok`, { headers: { 'x-api-key': apiKey } })).status;
  expect([await ask(), await ask(), connections]).toEqual([200, 200, 1]);
  await new Promise((resolve) => setTimeout(resolve, idleMs - 400));
  expect([await ask(), connections]).toEqual([200, 2]);
  await new Promise((resolve) => server.close(resolve));
});

test('sends a caller the same keep-alive headers as without a gateway', async () => {
  const agent = await anAgent((_incoming, response) => response.end('ok'));
  const { address } = await inFrontOf(agent.origin);
  const retention = new Agent({ keepAlive: true });
  const response = await begin(address, retention);
  response.resume();
  expect([response.headers.connection, response.headers['keep-alive']]).toEqual(['keep-alive', 'timeout=5']);
  retention.destroy();
});
