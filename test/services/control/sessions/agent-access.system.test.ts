import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openSessionFixture, type Browser, type SessionFixture } from './fixture.ts';

let service: SessionFixture;
let browser: Browser;
beforeAll(async () => {
  service = await openSessionFixture();
});
afterAll(() => service.close());
beforeEach(async () => {
  browser = await service.browser();
  service.requested.length = 0;
});

type Headers = Record<string, string>;
const port = () => service.host.split(':')[1] ?? '';
const apart = () => ({ host: `agents.localhost:${port()}`, origin: service.origin });
const path = () => `/agents/${service.deployment}/threads`;
const ofConsole = (): Headers => ({
  cookie: browser.cookie,
  origin: service.origin,
  'x-csrf-token': browser.csrf_token,
});
const access = (): Promise<Headers> => service.access(browser);

test('a session names the origin of agents, where nothing else is served', async () => {
  expect(browser.agents_url).toBe(`http://agents.localhost:${port()}`);
  for (const other of ['/v1/session', '/v1/sessions', '/console', '/docs', '/ok', '/']) {
    const { status, headers } = await service.send({ path: other, headers: { ...apart(), cookie: browser.cookie } });
    expect([other, status, headers['set-cookie']]).toEqual([other, 404, undefined]);
  }
});

test('a page calls its agent there with a token, and the agent gets neither token nor origin rights', async () => {
  Object.assign(service.agentHeaders, {
    'access-control-allow-origin': '*',
    'access-control-allow-credentials': 'true',
  });
  const { status, headers } = await service.send({ path: path(), headers: { ...apart(), ...(await access()) } });
  expect([status, headers]).toMatchObject([
    200,
    {
      'access-control-allow-origin': service.origin,
      'cache-control': 'no-store',
      'content-security-policy': 'sandbox',
    },
  ]);
  expect(headers).not.toHaveProperty('access-control-allow-credentials');
  const [{ headers: seen } = { headers: {} }] = service.requested;
  expect(seen).not.toHaveProperty('x-landfall-agent-access');
  // Its address is the one that works for keys too.
  expect(seen).toMatchObject({ 'x-forwarded-proto': 'http', 'x-forwarded-host': service.host });
});

test('the same address works for keys, at both names', async () => {
  const key = { 'x-api-key': service.key.text };
  const asked = [{}, { host: apart().host }, apart()].map((headers) =>
    service.send({ path: path(), headers: { ...key, ...headers } }),
  );
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

const preflight = (headers: Headers) =>
  service.send({
    method: 'OPTIONS',
    path: path(),
    headers: {
      ...headers,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'content-type,x-landfall-agent-access',
    },
  });

test('the gateway allows pages of the console to send a token, and the agent is not asked', async () => {
  const { status, headers } = await preflight(apart());
  expect([status, headers]).toMatchObject([
    204,
    {
      'access-control-allow-origin': service.origin,
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'content-type,x-landfall-agent-access',
    },
  ]);
  expect(service.requested).toEqual([]);
});

/** Who else could send a token, if it had one. */
const others: [what: string, headers: () => Headers][] = [
  ['another site', () => ({ ...apart(), origin: 'https://evil.test' })],
  ['another port of this machine', () => ({ ...apart(), origin: 'http://127.0.0.1:1' })],
  ['an opaque origin', () => ({ ...apart(), origin: 'null' })],
  ['the origin of agents itself', () => ({ ...apart(), origin: `http://agents.localhost:${port()}` })],
  ['the origin of the console, at its own address', () => ({ origin: service.origin })],
  ['a name that begins alike', () => ({ ...apart(), host: `agents.localhost.evil.test:${port()}` })],
  ['a name below', () => ({ ...apart(), host: `x.agents.localhost:${port()}` })],
  ['a forged X-Forwarded-Host', () => ({ origin: service.origin, 'x-forwarded-host': apart().host })],
];

test.each(others)('a token is refused from %s, by the preflight too', async (_, headers) => {
  expect((await preflight(headers())).status).toBe(403);
  expect((await service.send({ path: path(), headers: { ...headers(), ...(await access()) } })).status).toBe(403);
  expect(service.requested).toEqual([]);
});

test('a page without an Origin, as an old browser may open it, uses no token', async () => {
  const { host } = apart();
  expect((await service.send({ path: path(), headers: { host, ...(await access()) } })).status).toBe(403);
});

test.each<[what: string, prepare: () => Promise<Headers>]>([
  [
    'a forged one',
    async () => ({ 'x-landfall-agent-access': `${Buffer.from('["a","b",1]').toString('base64url')}.AA` }),
  ],
  ['one without a signature', async () => ({ 'x-landfall-agent-access': 'a' })],
  [
    'one that has expired',
    async () => {
      const headers = await access();
      service.clock.time += 5 * 60_000;
      return headers;
    },
  ],
  [
    'one whose session has ended',
    async () => {
      const headers = await access();
      await service.send({ method: 'DELETE', path: '/v1/session', headers: ofConsole() });
      return headers;
    },
  ],
  [
    'one whose key was revoked',
    async () => {
      const { id, text: key } = await service.addKey('short', [service.tenant]);
      const headers = await service.access(await service.browser(key));
      await service.send({ method: 'DELETE', path: `/v1/api-keys/${id}`, headers: { 'x-api-key': service.key.text } });
      return headers;
    },
  ],
  ['the cookie in its place', async () => ofConsole()],
])('refuses %s', async (_, prepare) => {
  const headers = await prepare();
  expect((await service.send({ path: path(), headers: { ...headers, ...apart() } })).status).toBe(403);
  expect(service.requested).toEqual([]);
});

test('a session is refused for agents at the address of the console', async () => {
  const { status, body } = await service.send({ path: path(), headers: ofConsole() });
  expect([status, body]).toEqual([403, { detail: expect.stringContaining('at their own address only') }]);
  expect(service.requested).toEqual([]);
});

test('a token is for one agent, of the tenant of its session', async () => {
  const headers = { ...apart(), ...(await access()) };
  const other = `/agents/${service.deployment.replace(/.$/, (last) => (last === '0' ? '1' : '0'))}/threads`;
  expect((await service.send({ path: other, headers })).status).toBe(403);
  const stranger = await service.browser((await service.addKey('stranger', [service.other])).text);
  expect((await service.requestAccess(stranger)).status).toBe(404);
  expect(service.requested).toEqual([]);
});

test('a stream that began in time outlives its token, but not its session', async () => {
  const { 'x-landfall-agent-access': token = '' } = await access();
  const began = { deploymentId: service.deployment, at: service.clock.time, isInBackground: true };
  service.clock.time += 60 * 60_000;
  expect(await service.sessions.agents.admit(token, began)).toMatchObject({ id: service.key.id });
  await service.send({ method: 'DELETE', path: '/v1/session', headers: ofConsole() });
  expect(await service.sessions.agents.admit(token, began)).toBeUndefined();
});

test('a token that is used in the background does not prolong the session', async () => {
  const lastUse = async () => (await service.send({ path: '/v1/session', headers: ofIdle() })).body;
  const ofIdle = (): Headers => ({ ...ofConsole(), 'x-landfall-background': '1' });
  service.clock.time += 4 * 3_600_000;
  const before = await lastUse();
  const headers = { ...apart(), ...(await service.access(browser, ofIdle())), 'x-landfall-background': '1' };
  expect((await service.send({ path: path(), headers })).status).toBe(200);
  expect(await lastUse()).toEqual(before);
});

/** Sends the head of a request as it stands. */
async function sendRaw(...lines: string[]): Promise<string> {
  const socket = connect(Number(port()), '127.0.0.1');
  await once(socket, 'connect');
  socket.end([...lines, 'Connection: close', '', ''].join('\r\n'));
  return text(socket);
}

test.each([
  ['a whole address', (own: string) => [`GET http://${own}/v1/session HTTP/1.1`, `Host: agents.localhost:${port()}`]],
  ['two hosts', (own: string) => ['GET /v1/session HTTP/1.1', `Host: agents.localhost:${port()}`, `Host: ${own}`]],
  ['capitals', () => ['GET /v1/session HTTP/1.1', `Host: AGENTS.LocalHost:${port()}`]],
  ['a dot at the end', () => ['GET /v1/session HTTP/1.1', `Host: agents.localhost.:${port()}`]],
  ['no port', () => ['GET /v1/session HTTP/1.1', 'Host: agents.localhost']],
  [
    'a forwarded host',
    (own: string) => ['GET /v1/session HTTP/1.1', 'Host: agents.localhost', `X-Forwarded-Host: ${own}`],
  ],
])('the service itself is not served at the name of agents by %s', async (_, head) => {
  const response = await sendRaw(...head(service.host), `Cookie: ${browser.cookie}`);
  expect(response).toMatch(/^HTTP\/1\.1 40[04] /);
  expect(response).not.toContain('csrf_token');
});

test('a public address of agents works as the local one does, whatever the port behind the web server', async () => {
  const behind = await openSessionFixture({ publicUrl: 'https://a.test/b', agentsUrl: 'https://agents.test/b' });
  try {
    const signedIn = await behind.browser(behind.key.text, { origin: 'https://a.test', host: 'a.test' });
    expect(signedIn.agents_url).toBe('https://agents.test/b');
    const own = { cookie: signedIn.cookie, origin: 'https://a.test', 'x-csrf-token': signedIn.csrf_token };
    const token = await behind.access(signedIn, own);
    const at = (host: string, origin = 'https://a.test') =>
      behind.send({ path: `/agents/${behind.deployment}/threads`, headers: { host, origin, ...token } });
    expect((await at('agents.test:8443')).headers).toMatchObject({ 'access-control-allow-origin': 'https://a.test' });
    expect(behind.requested[0]?.headers).toMatchObject({ 'x-forwarded-host': 'a.test', 'x-forwarded-proto': 'https' });
    const refused = [at('a.test'), at(behind.host), at('agents.test', behind.origin), at('agents.test', 'null')];
    expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect((await behind.send({ path: '/v1/session', headers: { ...own, host: 'agents.test' } })).status).toBe(404);
    const byCookie = await behind.send({ path: `/agents/${behind.deployment}/threads`, headers: own });
    expect(byCookie.status).toBe(403);
  } finally {
    await behind.close();
  }
});
