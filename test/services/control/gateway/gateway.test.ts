import { once } from 'node:events';
import { request as send, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import type { Clock } from '../../../../src/kit/clock.ts';
import { makeApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { steppedClock } from '../api-keys/stepped-clock.ts';
import { apiKey, deploymentId, listen, listenAsGateway, type GatewayParty, type Party } from './parties.ts';

const parties: Party[] = [];
afterEach(async () => {
  for (const party of parties.splice(0)) await party.close();
});

const key = { 'x-api-key': apiKey };

async function aGateway(...settings: Parameters<typeof listenAsGateway>): Promise<GatewayParty> {
  const party = await listenAsGateway(...settings);
  parties.push(party);
  return party;
}

async function anAgent(listener: RequestListener): Promise<Party> {
  const party = await listen(listener);
  parties.push(party);
  return party;
}

/** A gateway with one agent behind it. */
async function inFrontOf(listener: RequestListener): Promise<GatewayParty> {
  const gateway = await aGateway();
  gateway.gateway.switchTo(deploymentId, { origin: (await anAgent(listener)).origin, token: 'token' });
  return gateway;
}

const errorBody = z.object({ detail: z.string() });
const detailOf = async (response: Response): Promise<string> => errorBody.parse(await response.json()).detail;

test("forwards a request with the tenant's key to the agent, without the key", async () => {
  const seen: Record<string, unknown> = {};
  const { address } = await inFrontOf((request, response) => {
    Object.assign(seen, { method: request.method, url: request.url, headers: request.headers });
    response.setHeader('Content-Location', '/threads/t/runs/r');
    request.pipe(response);
  });
  const response = await fetch(`${address}/threads/t/runs?x=1`, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json' },
    body: '{"a":1}',
  });
  expect(await response.text()).toBe('{"a":1}');
  expect(response.headers.get('content-location')).toBe('/threads/t/runs/r');
  expect(seen).toMatchObject({ method: 'POST', url: '/threads/t/runs?x=1' });
  expect(seen.headers).toMatchObject({ 'x-landfall-agent-token': 'token', 'content-type': 'application/json' });
  expect(seen.headers).toMatchObject({ 'x-forwarded-prefix': new URL(address).pathname, host: new URL(address).host });
  expect(JSON.stringify(seen)).not.toContain(apiKey);
});

test.each([
  ['without a key', {}, '/ok', 401],
  ['with a wrong key', { 'x-api-key': 'another' }, '/ok', 401],
  ['with a token in place of the key', { 'x-landfall-agent-token': 'token' }, '/threads', 401],
])('%s nothing reaches the agent', async (_, headers, path, status) => {
  let reached = 0;
  const { address } = await inFrontOf((_request, response) => {
    reached += 1;
    response.end();
  });
  const response = await fetch(`${address}${path}`, { headers });
  expect(response.status).toBe(status);
  expect(await detailOf(response)).toContain('X-Api-Key');
  expect(reached).toBe(0);
});

test.each(['/ok?api_key=', '/threads/'])('a key of the service in the path %s reaches no agent', async (path) => {
  let reached = 0;
  const { address } = await inFrontOf((_request, response) => {
    reached += 1;
    response.end();
  });
  const response = await fetch(`${address}${path}${makeApiKey().text}`, { headers: key });
  expect([response.status, await detailOf(response), reached]).toEqual([400, expect.stringContaining('X-Api-Key'), 0]);
});

test('responds with 404 for an unknown deployment', async () => {
  const { origin } = await aGateway();
  const response = await fetch(`${origin}/agents/unknown/ok`, { headers: key });
  expect([response.status, await detailOf(response)]).toEqual([404, expect.stringContaining('No deployment')]);
});

test('a refusal can have its own detail', async () => {
  const { address } = await aGateway(async () => ({ status: 403, detail: 'Not with this tenant.' }));
  const response = await fetch(`${address}/ok`, { headers: key });
  expect([response.status, await detailOf(response)]).toEqual([403, 'Not with this tenant.']);
});

test('responds with 503 and Retry-After while nothing is live', async () => {
  const { address } = await aGateway();
  const response = await fetch(`${address}/ok`, { headers: key });
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('5');
  expect(await detailOf(response)).toContain('No revision of this deployment is live');
});

test('responds with 503 and Retry-After while its agent starts', async () => {
  const { address, gateway } = await aGateway(undefined, undefined, (id) => id === deploymentId);
  const response = await fetch(`${address}/ok`, { headers: key });
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  expect(await detailOf(response)).toContain("This deployment's agent is being started");
  const agent = await anAgent((_, answer) => void answer.end('here'));
  gateway.switchTo(deploymentId, { origin: agent.origin, token: 'token' });
  expect(await (await fetch(`${address}/ok`, { headers: key })).text()).toBe('here');
});

test("rejects a request when its key can't be checked", async () => {
  const { address, logged } = await aGateway(() => Promise.reject(new Error('the database is unavailable')));
  const response = await fetch(`${address}/ok`, { headers: key });
  expect(response.status).toBe(503);
  expect(logged).toEqual(['A key could not be checked: the database is unavailable']);
});

test('leaves URLs of the service to the service', async () => {
  const { origin } = await aGateway();
  expect((await fetch(`${origin}/v2/deployments`)).status).toBe(418);
});

test('responds with 502 for an exited process without revealing its address', async () => {
  const agent = await listen(() => {});
  const { address, gateway } = await aGateway();
  gateway.switchTo(deploymentId, { origin: agent.origin, token: 'token' });
  await agent.close();
  const response = await fetch(`${address}/ok`, { headers: key });
  expect(response.status).toBe(502);
  expect(await detailOf(response)).not.toContain('127.0.0.1');
});

test('a process that aborts its response truncates the response', async () => {
  const { address } = await inFrontOf((_request, response) => {
    response.write('data: 1\n\n');
    setImmediate(() => response.destroy());
  });
  const response = await fetch(`${address}/runs/stream`, { headers: key });
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow('terminated');
});

test('responds with 504 when a process never starts its response', async () => {
  let passTime = (): void => {};
  const clock: Clock = {
    now: () => 0,
    sleep: () => new Promise((resolve) => (passTime = resolve)),
  };
  const { address, gateway } = await aGateway(undefined, clock);
  const agent = await anAgent(() => passTime());
  gateway.switchTo(deploymentId, { origin: agent.origin, token: 'token' });
  const response = await fetch(`${address}/runs/wait`, { method: 'POST', headers: key });
  expect([response.status, await detailOf(response)]).toEqual([504, expect.stringContaining('did not begin')]);
});

test('passes a compressed response unchanged', async () => {
  const packed = gzipSync('{"ok":true}');
  const { address } = await inFrontOf((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length }).end(packed),
  );
  const response = await received(`${address}/ok`);
  expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(packed.length) });
  expect(await bytesOf(response)).toEqual(packed);
});

test('sends stream headers before the first event, and each event at once', async () => {
  let next = (_text: string): void => {};
  const { address } = await inFrontOf((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    next = (text) => void (text === '' ? response.end() : response.write(text));
  });
  const response = await fetch(`${address}/runs/stream`, { headers: key });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  if (!response.body) throw new Error('a stream without a body');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (const text of ['event: metadata\n\n', 'event: updates\n\n']) {
    next(text);
    expect(await reader.read()).toEqual({ done: false, value: text });
  }
  next('');
  expect((await reader.read()).done).toBe(true);
});

test('streams the body of a request to the agent', async () => {
  let agentSaw = (_text: string): void => {};
  const { address } = await inFrontOf((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => agentSaw(text));
    request.on('end', () => response.end('all of it'));
  });
  const outgoing = send(`${address}/runs`, { method: 'POST', headers: key });
  for (const text of ['first', 'second']) {
    const seen = new Promise<string>((resolve) => (agentSaw = resolve));
    outgoing.write(text);
    expect(await seen).toBe(text);
  }
  const response = await new Promise<IncomingMessage>((resolve) => {
    outgoing.on('response', resolve).end();
  });
  expect(String(await bytesOf(response))).toBe('all of it');
});

test('a caller that disconnects aborts the request to the agent', async () => {
  let gone = (): void => {};
  const ended = new Promise<void>((resolve) => (gone = resolve));
  let finished: boolean | undefined;
  const { address } = await inFrontOf((_request, response) => {
    response.writeHead(200).write('data: 1\n\n');
    response.on('close', () => {
      finished = response.writableFinished;
      gone();
    });
  });
  const leaving = new AbortController();
  await fetch(`${address}/runs/stream`, { headers: key, signal: leaving.signal });
  leaving.abort();
  await ended;
  expect(finished).toBe(false);
});

test('a caller that disconnects during the key check is not counted in flight', async () => {
  let admitNow = (): void => {};
  const { address, gateway, server } = await aGateway(
    () => new Promise((resolve) => (admitNow = () => resolve('allowed'))),
  );
  let reached = 0;
  const agent = await anAgent((_request, response) => {
    reached += 1;
    response.end();
  });
  gateway.switchTo(deploymentId, { origin: agent.origin, token: 'token' });
  const arrived = once(server, 'request');
  const leaving = new AbortController();
  const left = fetch(`${address}/ok`, { headers: key, signal: leaving.signal });
  const [, response] = await arrived;
  const closed = once(response, 'close');
  leaving.abort();
  await Promise.allSettled([left, closed]);
  admitNow();
  await new Promise((resolve) => setImmediate(resolve));
  const route = gateway.withdraw(deploymentId);
  await route?.drained();
  expect([route?.inFlight(), reached]).toEqual([0, 0]);
});

test("many concurrent streams are complete and don't wait for each other", async () => {
  const open: (() => void)[] = [];
  const { address } = await inFrontOf((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('first\n');
    open.push(() => response.end('last'));
  });
  const responses = await Promise.all(Array.from({ length: 300 }, () => fetch(`${address}/s`, { headers: key })));
  expect(open.length).toBe(300);
  for (const end of open) end();
  const texts = await Promise.all(responses.map((response) => response.text()));
  expect(new Set(texts)).toEqual(new Set(['first\nlast']));
});

function received(address: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    send(address, { headers: key }).on('response', resolve).on('error', reject).end();
  });
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

test('gets a file of a UI for a caller without a key, and passes no credentials on', async () => {
  const seen: unknown[] = [];
  const { address } = await inFrontOf((request, response) => {
    seen.push([request.method, request.url, Object.keys(request.headers).toSorted()]);
    response.end('script');
  });
  const headers = { cookie: 'a=1', 'x-landfall-agent-token': 'forged', accept: '*/*' };
  const file = await fetch(`${address}/api/ui/my%20agent/entrypoint.js?x=1`, { headers });
  expect([file.status, await file.text()]).toEqual([200, 'script']);
  expect(seen).toEqual([
    [
      'GET',
      '/api/ui/my%20agent/entrypoint.js',
      ['accept', 'accept-encoding', 'connection', 'host', 'x-landfall-agent-token', 'x-landfall-without-key'],
    ],
  ]);
});

test('leaves the path of a UI file to the agent where the caller has a key', async () => {
  const seen: unknown[] = [];
  const { address } = await inFrontOf((request, response) => {
    seen.push([request.url, request.headers['x-landfall-without-key']]);
    response.end();
  });
  expect((await fetch(`${address}/ui/agent/entrypoint.js?x=1`, { headers: key })).status).toBe(200);
  expect(seen).toEqual([['/ui/agent/entrypoint.js?x=1', undefined]]);
});

test.each([
  ['POST', '/ui/agent/entrypoint.js'],
  ['POST', '/ui/agent'],
  ['GET', '/ui/agent/entrypoint.html'],
  ['GET', '/ui/agent/../../threads/entrypoint.js'],
  ['GET', '/ui/a/b/entrypoint.js'],
])('requires a key for %s %s', async (method, path) => {
  const { address } = await inFrontOf((_, response) => void response.end());
  expect((await fetch(`${address}${path}`, { method })).status).toBe(401);
});

test('ends an open response once its caller would not be admitted any more', async () => {
  const { clock, advance } = steppedClock();
  const admitted = new Set(['brief', 'valid']);
  const checks: (string | undefined)[] = [];
  let isReachable = true;
  const { address, gateway } = await aGateway(async (_, sent) => {
    checks.push(sent);
    if (!isReachable) throw new Error('the database is unavailable');
    return admitted.has(sent ?? '') ? 'allowed' : { status: 401, detail: 'Send X-Api-Key.' };
  }, clock);
  const streams = new Set<ServerResponse>();
  const agent = await anAgent((request, response) => {
    if (request.url === '/ok') return void response.end('{}');
    streams.add(response);
    response.once('close', () => streams.delete(response));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n');
  });
  gateway.switchTo(deploymentId, { origin: agent.origin, token: 'token' });
  const open = (sent: string, path = '/threads/t/stream') =>
    fetch(`${address}${path}`, { headers: { 'x-api-key': sent } });
  const [brief, valid] = [await open('brief'), await open('valid')];
  await (await open('valid', '/ok')).text();
  checks.length = 0;
  isReachable = false;
  admitted.delete('brief');
  await advance(15_000);
  expect(checks).toEqual(['brief', 'valid']);
  expect(streams.size).toBe(2);
  isReachable = true;
  await advance(15_000);
  await expect(brief.text()).rejects.toThrow('terminated');
  await vi.waitFor(() => expect(streams.size).toBe(1));
  for (const response of streams) response.end('data: 1\n\n');
  expect(await valid.text()).toBe(': here\n\ndata: 1\n\n');
  checks.length = 0;
  await advance(15_000);
  expect(checks).toEqual([]);
});
