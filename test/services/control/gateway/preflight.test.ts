import { request as send, type IncomingMessage } from 'node:http';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import { isPreflight } from '../../../../src/services/control/gateway/preflight.ts';
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

describe('a CORS preflight request', () => {
  test.each<[string, boolean, string, Record<string, string>]>([
    ['OPTIONS with an origin and a method', true, 'OPTIONS', question],
    ['OPTIONS with a content length of zero', true, 'OPTIONS', { ...question, 'content-length': '0' }],
    ['another method', false, 'POST', question],
    ['no origin', false, 'OPTIONS', { 'access-control-request-method': 'POST' }],
    ['an empty origin', false, 'OPTIONS', { ...question, origin: '' }],
    ['no requested method', false, 'OPTIONS', { origin: 'https://page.example' }],
    ['a body', false, 'OPTIONS', { ...question, 'content-length': '1' }],
    ['a chunked body', false, 'OPTIONS', { ...question, 'transfer-encoding': 'chunked' }],
    ['an API key', false, 'OPTIONS', { ...question, 'x-api-key': 'guessed' }],
    ['a bearer token', false, 'OPTIONS', { ...question, authorization: 'Bearer guessed' }],
  ])('%s: %s', (_, is, method, headers) => expect(isPreflight({ method, headers })).toBe(is));
});

interface Requested {
  method?: string | undefined;
  url?: string | undefined;
  headers: IncomingHttpHeaders;
}

/** A gateway with one agent, and the requests that reached the agent. */
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

/** Sends requests that browsers and `fetch` don't allow. */
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
  response.end('what requires a key');
};

test('forwards a preflight to the agent and returns only CORS headers', async () => {
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

test('forwards only the preflight headers: no query, no cookie, no custom header', async () => {
  const { address, requested } = await inFrontOf(allowing);
  await ask(`${address}/runs/wait?assistant=x`, {
    ...question,
    cookie: 'a=b',
    'x-mine': '1',
    'x-landfall-agent-token': 'forged',
    'x-forwarded-host': 'evil.example',
    'user-agent': 'client',
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

test('passes a refusal of the agent on', async () => {
  const { address } = await inFrontOf((_request, response) => response.writeHead(405, { allow: 'GET' }).end('no'));
  expect(await ask(`${address}/ok`, question)).toMatchObject({ status: 405, text: '' });
});

test.each<[string, Record<string, string>, string, string]>([
  ['OPTIONS without a requested method', { origin: 'https://page.example' }, 'OPTIONS', ''],
  ['a preflight with a body', { ...question, 'content-length': '4' }, 'OPTIONS', 'data'],
  ['a preflight with a wrong key', { ...question, 'x-api-key': 'guessed' }, 'OPTIONS', ''],
  ['the actual request', question, 'POST', ''],
])('%s needs a key and does not reach the agent', async (_, headers, method, body) => {
  const { address, requested } = await inFrontOf(allowing);
  const { status, text } = await ask(`${address}/threads`, headers, method, body);
  expect([status, text]).toEqual([401, expect.stringContaining('X-Api-Key')]);
  expect(requested).toEqual([]);
});

test('a preflight reveals nothing about deployments that are not live', async () => {
  const { address, withdraw } = await inFrontOf(allowing);
  withdraw();
  expect((await ask(`${address}/ok`, question)).status).toBe(401);
  const nowhere = address.replace(deploymentId, 'nowhere');
  expect((await ask(`${nowhere}/ok`, { ...question, 'x-api-key': apiKey })).status).toBe(404);
});

test('only a page gets CORS headers with a refusal', async () => {
  const { address } = await inFrontOf(allowing);
  const page = await fetch(`${address}/ok`, { headers: { origin: 'https://page.example' } });
  expect([page.status, page.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
  expect(page.headers.get('access-control-expose-headers')).toBe('retry-after');
  expect((await fetch(`${address}/ok`)).headers.get('access-control-allow-origin')).toBeNull();
});

test('does not wait for the end of an endless preflight response', async () => {
  const { address } = await inFrontOf((_request, response) => {
    response.writeHead(200, { 'access-control-allow-origin': '*' }).write('on and on');
  });
  expect(await ask(`${address}/ok`, question)).toMatchObject({ status: 200, text: '' });
});

test('waits ten seconds for a preflight, less than for requests with a key', async () => {
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
