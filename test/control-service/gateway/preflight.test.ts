import { request as send, type IncomingMessage } from 'node:http';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/clock.ts';
import { isPreflight } from '../../../src/control-service/gateway/preflight.ts';
import { apiKey, deploymentId, listen, listenAsGateway, type Party } from './parties.ts';

const parties: Party[] = [];
afterEach(async () => {
  for (const party of parties.splice(0)) await party.close();
});

const question = {
  origin: 'https://page.example',
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'content-type,x-api-key',
};

describe('a browser asks whether a page may call', () => {
  test.each<[string, boolean, string, Record<string, string>]>([
    ['by OPTIONS, with origin and method', true, 'OPTIONS', question],
    ['and may say that it sends no body', true, 'OPTIONS', { ...question, 'content-length': '0' }],
    ['and never by another method', false, 'POST', question],
    ['nor without an origin', false, 'OPTIONS', { 'access-control-request-method': 'POST' }],
    ['nor with an empty one', false, 'OPTIONS', { ...question, origin: '' }],
    ['nor without a method', false, 'OPTIONS', { origin: 'https://page.example' }],
    ['nor with a body', false, 'OPTIONS', { ...question, 'content-length': '1' }],
    ['nor with one of any length', false, 'OPTIONS', { ...question, 'transfer-encoding': 'chunked' }],
    ['whoever shows a key is asked for a good one', false, 'OPTIONS', { ...question, 'x-api-key': 'guessed' }],
    ['in whichever header', false, 'OPTIONS', { ...question, authorization: 'Bearer guessed' }],
  ])('%s: %s', (_, is, method, headers) => expect(isPreflight({ method, headers })).toBe(is));
});

interface Requested {
  method?: string | undefined;
  url?: string | undefined;
  headers: IncomingHttpHeaders;
}

/** A gateway with one agent behind it, and what reached that. */
async function inFrontOf(
  listener: RequestListener,
  clock?: Clock,
): Promise<{ address: string; requested: Requested[]; withdraw: () => void }> {
  const requested: Requested[] = [];
  const agent = await listen((request, response) => {
    const { method, url, headers } = request;
    requested.push({ method, url, headers });
    listener(request, response);
  });
  const gateway = await listenAsGateway(undefined, clock);
  parties.push(agent, gateway);
  gateway.gateway.switchTo(deploymentId, { origin: agent.origin, token: 'token' });
  return { address: gateway.address, requested, withdraw: () => void gateway.gateway.withdraw(deploymentId) };
}

/** Sends what no browser and no `fetch` would. */
async function ask(address: string, headers: Record<string, string>, method = 'OPTIONS', body = '') {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    send(address, { method, headers }).on('response', resolve).on('error', reject).end(body);
  });
  const text = (await response.setEncoding('utf8').toArray()).join('');
  return { status: response.statusCode, headers: response.headers, text };
}

const allowing: RequestListener = (_request, response) => {
  response.writeHead(200, {
    'access-control-allow-origin': 'https://page.example',
    'access-control-allow-headers': 'x-api-key',
    'access-control-max-age': '600',
    vary: 'Origin',
    'set-cookie': 'a=b',
    'x-powered-by': 'an agent',
    'content-type': 'text/plain',
  });
  response.end('what nobody without a key may read');
};

test('it is the agent that answers, and its word about pages is all that is told', async () => {
  const { address, requested } = await inFrontOf(allowing);
  const { status, headers, text } = await ask(`${address}/runs/stream`, question);
  expect([status, text]).toEqual([200, '']);
  expect(headers).toMatchObject({
    'access-control-allow-origin': 'https://page.example',
    'access-control-allow-headers': 'x-api-key',
    'access-control-max-age': '600',
    vary: 'Origin',
    'content-length': '0',
  });
  for (const name of ['set-cookie', 'x-powered-by', 'content-type']) expect(headers).not.toHaveProperty(name);
  expect(requested).toHaveLength(1);
});

test('the agent sees the question and nothing else: no query, no cookie, no header of the caller’s own', async () => {
  const { address, requested } = await inFrontOf(allowing);
  await ask(`${address}/runs/wait?assistant=x`, {
    ...question,
    cookie: 'a=b',
    'x-mine': '1',
    'x-landfall-agent-token': 'forged',
    'x-forwarded-host': 'evil.example',
    'user-agent': 'somebody',
    connection: 'origin, access-control-request-method, close',
  });
  expect(requested).toMatchObject([{ method: 'OPTIONS', url: '/runs/wait' }]);
  const { connection: _, ...seen } = requested[0]?.headers ?? {};
  expect(seen).toEqual({
    ...question,
    host: new URL(address).host,
    'content-length': '0',
    'x-landfall-agent-token': 'token',
  });
});

test('a refusal by the agent is one', async () => {
  const { address } = await inFrontOf((_request, response) => response.writeHead(405, { allow: 'GET' }).end('no'));
  expect(await ask(`${address}/ok`, question)).toMatchObject({ status: 405, text: '' });
});

test.each<[string, Record<string, string>, string, string]>([
  ['OPTIONS that is no such question', { origin: 'https://page.example' }, 'OPTIONS', ''],
  ['one with a body', { ...question, 'content-length': '4' }, 'OPTIONS', 'data'],
  ['one with a wrong key', { ...question, 'x-api-key': 'guessed' }, 'OPTIONS', ''],
  ['the request that comes after it', question, 'POST', ''],
])('%s needs the key, and nothing reaches the agent', async (_, headers, method, body) => {
  const { address, requested } = await inFrontOf(allowing);
  const { status, text } = await ask(`${address}/threads`, headers, method, body);
  expect([status, text]).toEqual([401, expect.stringContaining('X-Api-Key')]);
  expect(requested).toEqual([]);
});

test('where nothing is live nobody learns more than without a question', async () => {
  const { address, withdraw } = await inFrontOf(allowing);
  withdraw();
  expect((await ask(`${address}/ok`, question)).status).toBe(401);
  const nowhere = address.replace(deploymentId, 'nowhere');
  expect((await ask(`${nowhere}/ok`, { ...question, 'x-api-key': apiKey })).status).toBe(404);
});

test('a page may read why it was refused, and nobody else hears of pages', async () => {
  const { address } = await inFrontOf(allowing);
  const page = await fetch(`${address}/ok`, { headers: { origin: 'https://page.example' } });
  expect([page.status, page.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
  expect(page.headers.get('access-control-expose-headers')).toBe('retry-after');
  expect((await fetch(`${address}/ok`)).headers.get('access-control-allow-origin')).toBeNull();
});

test('an answer without an end is told, and waited for no longer', async () => {
  const { address } = await inFrontOf((_request, response) => {
    response.writeHead(200, { 'access-control-allow-origin': '*' }).write('on and on');
  });
  expect(await ask(`${address}/ok`, question)).toMatchObject({ status: 200, text: '' });
});

test('an agent that does not answer is waited for ten seconds, and not for the minutes of those with a key', async () => {
  const waits: number[] = [];
  let passTime = (): void => {};
  const clock: Clock = {
    now: () => 0,
    sleep: (ms) => {
      waits.push(ms);
      return new Promise((resolve) => (passTime = resolve));
    },
  };
  const { address } = await inFrontOf(() => passTime(), clock);
  expect((await ask(`${address}/ok`, question)).status).toBe(504);
  expect(waits).toEqual([10_000]);
});
