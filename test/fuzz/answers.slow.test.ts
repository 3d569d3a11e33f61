import { silentLogger } from '../../src/kit/logger.ts';
import { once } from 'node:events';
import {
  Agent,
  createServer as createHttp,
  request as send,
  type IncomingMessage,
  type Server as HttpServer,
} from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/kit/clock.ts';
import { requestAgent } from '../../src/services/control/gateway/request-agent.ts';
import { Gateway } from '../../src/services/control/gateway/gateway.ts';
import { agentVersion } from '../../src/services/control/rollouts/roll-out-revision.ts';
import { createHttpServer } from '../../src/services/control/server.ts';
import { markerOf, markersIn, oneOf, rawAnswer, type Random, type RawAnswer } from './raw-answers.ts';
import { randomFrom } from '../random-from.ts';

const cases = Number(process.env['LANDFALL_FUZZ'] ?? 600);
const seed = Number(process.env['LANDFALL_FUZZ_SEED'] ?? 1);
const batchSize = 100;
/** An answer that is only half there is ended after this long (ms), by the agent itself. */
const keptMs = 20;

const hostile = '11111111-1111-4111-8111-111111111111';
const plain = '22222222-2222-4222-8222-222222222222';

const atTheEnd: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});

/** Collects uncaught errors from now on. */
function noteUncaught(): unknown[] {
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on('uncaughtException', note).on('unhandledRejection', note);
  atTheEnd.push(() => void process.off('uncaughtException', note).off('unhandledRejection', note));
  return uncaught;
}

async function originOf(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens at no port');
  return `http://127.0.0.1:${address.port}`;
}

/** An agent that writes what the script says for the number in the path, whatever the rest of the request is. */
async function hostileAgent(script: Map<number, RawAnswer>): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let heard = '';
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
      const found = /\/case\/(\d+)\D/.exec(heard);
      const answer = found && script.get(Number(found[1]));
      const isWhole = heard.endsWith('\r\n\r\n') || heard.includes('the end of it');
      if (!answer || !(answer.early || isWhole)) return;
      heard = '';
      void write(socket, answer);
    });
  });
  atTheEnd.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return originOf(server);
}

async function write(socket: Socket, { pieces, end }: RawAnswer): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (end === 'reset') socket.resetAndDestroy();
  else if (end === 'end') socket.end();
  else setTimeout(() => socket.end(), keptMs);
}

/** How one request ended: with an answer, whole or cut, or without one. */
interface Ended {
  status: number | undefined;
  text: string;
}

interface Asking {
  origin: string;
  connections: Agent;
  random: Random;
}

/** Sends a request of any kind, and resolves when nothing more can come. */
function ask({ origin, connections, random }: Asking, path: string): Promise<Ended> {
  const method = oneOf(random, ['GET', 'GET', 'POST', 'POST', 'HEAD', 'DELETE', 'OPTIONS']);
  const preflight = { origin: 'https://page.example', 'access-control-request-method': 'GET' };
  const body = method === 'POST' ? `${'x'.repeat(Math.floor(random() * 200_000))}the end of it` : '';
  const leaves = random() < 0.05;
  const headers = method === 'OPTIONS' ? preflight : { 'content-length': body.length };
  return new Promise((resolve) => {
    const ended: Ended = { status: undefined, text: '' };
    const outgoing = send(`${origin}${path}`, { method, headers, agent: connections });
    outgoing.on('error', () => undefined).on('close', () => resolve(ended));
    outgoing.on('response', (response: IncomingMessage) => {
      ended.status = response.statusCode;
      ended.text = `${response.statusMessage} ${JSON.stringify(response.headers)}`;
      response.on('error', () => undefined);
      response.on('data', (chunk: Buffer) => (ended.text += chunk.toString('latin1')));
      if (leaves) outgoing.destroy();
    });
    outgoing.end(body);
  });
}

test(
  'no raw answer of an agent ends the service, another agent, or another request',
  { timeout: 60_000 + cases * 60 },
  async () => {
    const random = randomFrom(seed);
    const script = new Map<number, RawAnswer>();
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', note).on('unhandledRejection', note);
    atTheEnd.push(() => void process.off('uncaughtException', note).off('unhandledRejection', note));

    const gateway = new Gateway({ authorize: async () => 'allowed', clock: systemClock, log: silentLogger });
    const service = createHttpServer({ fetch: () => new Response(), agents: gateway.handle, basePath: '' });
    const origin = await originOf(service);
    const wellBehaved: HttpServer = createHttp((request, response) => void response.end(request.url));
    const plainOrigin = await originOf(wellBehaved);
    const connections = new Agent({ keepAlive: true });
    atTheEnd.push(
      () => service.close().closeAllConnections(),
      () => wellBehaved.close().closeAllConnections(),
      () => connections.destroy(),
    );
    gateway.switchTo(plain, { origin: plainOrigin, token: 'token' });
    const hostileOrigin = await hostileAgent(script);

    const statuses = new Map<number | undefined, number>();
    for (let first = 0; first < cases; first += batchSize) {
      gateway.switchTo(hostile, { origin: hostileOrigin, token: 'token' });
      const numbers = Array.from({ length: Math.min(batchSize, cases - first) }, (_, at) => first + at);
      for (const at of numbers) script.set(at, rawAnswer(random, at));
      const all = await Promise.all(
        numbers.map(async (at) => ({
          at,
          ended: await ask({ origin, connections, random }, `/agents/${hostile}/case/${at}`),
        })),
      );
      for (const { at, ended } of all) {
        statuses.set(ended.status, (statuses.get(ended.status) ?? 0) + 1);
        expect({ at, seed, foreign: markersIn(ended.text).filter((other) => other !== at) }).toEqual({
          at,
          seed,
          foreign: [],
        });
      }
      const mark = markerOf(first);
      const seen = await fetch(`${origin}/agents/${plain}/${mark}`);
      expect([seen.status, await seen.text()]).toEqual([200, `/${encodeURI(mark)}`]);
      const route = gateway.withdraw(hostile);
      await route?.drained();
      expect([route?.inFlight(), uncaught]).toEqual([0, []]);
      route?.close();
      script.clear();
    }
    const counted = [...statuses].map(([status, times]) => `${times} x ${status ?? 'none'}`).join(', ');
    console.log(`fuzz of answers: ${cases} raw answers, seed ${seed}: ${counted}`);
    // Both kinds occurred: responses that were forwarded, and those that could not be.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 502]));
  },
);

test(
  'no raw answer to the service itself is more than an agent without health',
  { timeout: 60_000 + cases * 60 },
  async () => {
    const random = randomFrom(seed + 1);
    const uncaught = noteUncaught();
    const sockets = new Set<Socket>();
    let at = 0;
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      at += 1;
      const answer = rawAnswer(random, at);
      socket.once('data', () => void write(socket, answer));
    });
    atTheEnd.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const agent = { origin: await originOf(server), token: 'token' };
    let started = 0;
    for (let times = 0; times < Math.ceil(cases / 4); times += 1) {
      const signal = AbortSignal.timeout(5_000);
      const status = await requestAgent(agent, '/ok', signal).then(
        (response) => response.destroy().statusCode,
        () => undefined,
      );
      if (status !== undefined) started += 1;
      const version = await agentVersion(agent, { kind: 'image', imageUri: 'a/b:tag' }, systemClock);
      expect([version, uncaught]).toEqual(['tag', []]);
    }
    expect(started).toBeGreaterThan(0);
  },
);
