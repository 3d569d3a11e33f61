import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { request as send, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { upgradeHead } from '../../../../src/services/control/gateway/agent-route.ts';
import { deploymentId, listenAsGateway, type GatewayParty } from './parties.ts';

/** An agent that answers every request with the bytes that the test has chosen. */
let agent: Server;
let gateway: GatewayParty;
let answer = '';
beforeAll(async () => {
  agent = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(Buffer.from(answer, 'latin1')));
  });
  await once(agent.listen(0, '127.0.0.1'), 'listening');
  const address = agent.address();
  if (address === null || typeof address === 'string') throw new Error('the agent listens on no port');
  gateway = await listenAsGateway(async (_, key) => (key === undefined ? 'session' : 'allowed'));
  gateway.gateway.switchTo(deploymentId, { origin: `http://127.0.0.1:${address.port}`, token: 'token' });
});
afterAll(async () => {
  await gateway.close();
  agent.close();
});

interface Sent {
  method?: string;
  path: string;
  headers: Record<string, string>;
}

/** The requests with which a browser may reach an agent at the address of the console. */
const ofBrowsers: Record<string, Sent> = {
  'a file of a UI': { path: '/ui/a/entrypoint.js', headers: {} },
  'a file of a UI for a tag': { path: '/ui/a/entrypoint.css', headers: { 'sec-fetch-dest': 'style' } },
  'a page of the console': { path: '/threads', headers: { 'sec-fetch-dest': 'empty' } },
  'a page of the console without metadata': { method: 'POST', path: '/threads', headers: {} },
  'a page of any origin with a key': {
    path: '/threads',
    headers: { 'x-api-key': 'key', origin: 'https://page.example' },
  },
  'a page of the same origin with a key': {
    path: '/threads',
    headers: { 'x-api-key': 'key', 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' },
  },
  'a page without metadata that is opened with a key, which an extension adds': {
    path: '/page',
    headers: { 'x-api-key': 'key', 'upgrade-insecure-requests': '1' },
  },
};

async function receive({ method = 'GET', path, headers }: Sent): Promise<IncomingMessage> {
  const outgoing = send(`${gateway.address}${path}`, { method, headers, agent: false });
  outgoing.end();
  const [incoming] = await once(outgoing, 'response');
  // Cut where the agent has cut it.
  await text(incoming).catch(() => '');
  return incoming;
}

/** What makes a browser do something for the whole origin, follow an address, or show a response as another type. */
const acting = [
  'set-cookie',
  'clear-site-data',
  'service-worker-allowed',
  'refresh',
  'link',
  'strict-transport-security',
  'public-key-pins',
  'alt-svc',
  'nel',
  'report-to',
  'reporting-endpoints',
  'accept-ch',
  'critical-ch',
  'set-login',
  'sec-session-registration',
  'secure-session-registration',
  'use-as-dictionary',
  'supports-loading-mode',
  'speculation-rules',
  'origin-agent-cluster',
  'activate-storage-access',
  'content-security-policy-report-only',
  'permissions-policy',
  'document-policy',
  'sourcemap',
];
const guarding = ['content-security-policy', 'x-content-type-options', 'content-type', 'cache-control'];
const listed = [...acting, ...guarding, 'location', 'access-control-allow-origin', 'access-control-allow-credentials'];

const spelled = (name: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(name, fc.boolean()).map(([given, upper]) => (upper ? given.toUpperCase() : given));
const headerName = spelled(
  fc.oneof(fc.constantFrom(...listed), fc.stringMatching(/^[!#$%&'*+.^_`|~0-9a-z-]{1,20}$/), fc.constant('__proto__')),
);
const headerValue = fc.oneof(
  fc.constantFrom('text/html', '*', '0; url=https://evil.example', '</x.js>; rel=preload', 'true', 'upgrade'),
  fc.stringMatching(/^[!-~][ -~]{0,30}$/),
);
const header = fc.tuple(headerName, headerValue);
/** Names in `Connection`, those that guard a response above all. */
const connection = fc.array(spelled(fc.oneof(fc.constantFrom(...guarding, ...listed), headerName)), { maxLength: 8 });
const interim = fc.array(
  fc
    .tuple(fc.constantFrom(100, 102, 103), fc.array(header, { maxLength: 2 }))
    .filter(([, headers]) => headers.every(([name]) => !isFraming(name))),
  { maxLength: 2 },
);
const isFraming = (name: string): boolean => /^(?:content-length|transfer-encoding|upgrade)$/i.test(name);

const lines = (headers: readonly (readonly [string, string])[]): string =>
  headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');

const anyAnswer = fc
  .record({
    interim,
    status: fc.oneof(fc.constantFrom(101, 200, 204, 301, 302, 304, 307, 401), fc.integer({ min: 100, max: 599 })),
    headers: fc.array(header, { maxLength: 6 }).map((made) => made.filter(([name]) => !isFraming(name))),
    connection: fc.array(connection, { maxLength: 2 }),
    trailers: fc.array(header, { maxLength: 2 }).map((made) => made.filter(([name]) => !isFraming(name))),
  })
  .map(
    (of) =>
      of.interim.map(([status, headers]) => `HTTP/1.1 ${status} Soon\r\n${lines(headers)}\r\n`).join('') +
      `HTTP/1.1 ${of.status} Answer\r\n${lines(of.headers)}` +
      lines(of.connection.map((names) => ['Connection', names.join(', ')])) +
      `Transfer-Encoding: chunked\r\n\r\n5\r\n<b>hi\r\n0\r\n${lines(of.trailers)}\r\n`,
  );

test.each(Object.entries(ofBrowsers))('no answer to %s acts on the origin', async (_, sent) => {
  await fc.assert(
    fc.asyncProperty(anyAnswer, async (made) => {
      answer = made;
      const { statusCode = 0, headers, trailers } = await receive(sent);
      for (const name of acting) expect(headers).not.toHaveProperty(name);
      expect(trailers).toEqual({});
      const policy = String(headers['content-security-policy']);
      expect(policy.split(', ').at(-1)).toBe('sandbox');
      expect(headers['x-content-type-options']).toBe('nosniff');
      const isFile = sent.path.startsWith('/ui/');
      const types = isFile ? /^(?:text\/javascript|text\/css|application\/json)/ : /^/;
      expect(String(headers['content-type'])).toMatch(types);
      expect(isFile && 'location' in headers).toBe(false);
      if (sent.headers['x-api-key'] !== undefined) return;
      expect([301, 302, 303, 307, 308]).not.toContain(statusCode);
    }),
    { numRuns: 200 },
  );
});

test.each(Object.entries(ofBrowsers))('names in Connection remove nothing from an answer to %s', async (_, sent) => {
  answer =
    'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: content-security-policy, x-content-type-options\r\n' +
    'Connection: content-type, cache-control\r\nContent-Length: 2\r\n\r\nhi';
  expect((await receive(sent)).headers).toMatchObject({
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
  });
});

test.each('document iframe frame embed object worker sharedworker serviceworker audioworklet image'.split(' '))(
  'a file of a UI is never loaded as %s',
  async (use) => {
    answer = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<b>hi</b>';
    const refused = await receive({ path: '/ui/a/entrypoint.js', headers: { 'sec-fetch-dest': use } });
    expect([refused.statusCode, refused.headers['content-type']]).toEqual([403, 'application/json']);
  },
);

test('a browser that names no use of a file of a UI gets none for a service worker', async () => {
  answer = 'HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nContent-Length: 9\r\n\r\nonfetch=1';
  const refused = await receive({ path: '/ui/a/entrypoint.js', headers: { 'service-worker': 'script' } });
  expect(refused.statusCode).toBe(403);
});

test('a file of a UI is what its name says, whatever the agent calls it', async () => {
  answer =
    'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 2\r\n\r\nhi';
  const script = await receive({ path: '/ui/a/entrypoint.js?x=.css', headers: {} });
  expect(script.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'access-control-allow-origin': '*',
  });
  const styles = await receive({ path: '/ui/a/entrypoint.css', headers: {} });
  expect(styles.headers['content-type']).toBe('text/css; charset=utf-8');
});

test.each([
  ['a redirect', 'HTTP/1.1 302 Found\r\nLocation: /console\r\n', 502],
  ['a part of it', 'HTTP/1.1 206 Partial\r\nContent-Type: text/html\r\n', 502],
  ['an error page', 'HTTP/1.1 500 Error\r\nContent-Type: text/html\r\n', 502],
  ['that there is none', 'HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n', 404],
])('an answer that is no file of a UI but %s is the own of the gateway', async (_, head, status) => {
  answer = `${head}Content-Length: 9\r\n\r\n<b>hi</b>`;
  const refused = await receive({ path: '/ui/a/entrypoint.js', headers: {} });
  expect([refused.statusCode, refused.headers['content-type']]).toEqual([status, 'application/json']);
});

test('the head of a WebSocket has the headers of the handshake only', async () => {
  const headers = { 'sec-websocket-accept': 'x', 'set-cookie': ['a=1'], 'clear-site-data': '"*"', 'x-own': '1' };
  expect(upgradeHead({ headers }).toLowerCase().split('\r\n')).toEqual([
    'http/1.1 101 switching protocols',
    'sec-websocket-accept: x',
    'connection: upgrade',
    'upgrade: websocket',
    '',
    '',
  ]);
  expect(() => upgradeHead({ headers: { 'sec-websocket-accept': 'x\r\nset-cookie: a=1' } })).toThrow('character');
});
