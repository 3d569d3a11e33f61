import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSessionFixture, type Browser, type SessionFixture } from './fixture.ts';

let service: SessionFixture;
let browser: Browser;
beforeAll(async () => {
  service = await openSessionFixture();
  browser = await service.browser();
});
afterAll(() => service.close());

type Headers = Record<string, string>;
/** What a page of the service sends. */
const ofPage = (): Headers => ({
  cookie: browser.cookie,
  origin: service.origin,
  'x-csrf-token': browser.csrf_token,
});

describe('a request to the service with a session', () => {
  const create = (headers: Headers) =>
    service.send({ method: 'POST', path: '/v1/api-keys', headers, body: { name: 'made' } });
  const list = (headers: Headers) => service.send({ path: '/v1/api-keys', headers });

  test('acts as the key of the session, also in the audit log', async () => {
    expect((await create(ofPage())).status).toBe(201);
    const audit = await service.send({ path: '/v1/audit?limit=1', headers: { cookie: browser.cookie } });
    expect(audit.body).toMatchObject({ resources: [{ operation: 'create api key', key_name: 'ci' }] });
  });

  test.each<[what: string, change: () => Headers, words: string]>([
    ['no CSRF token', () => ({ 'x-csrf-token': '' }), 'x-csrf-token is missing'],
    ['another CSRF token', () => ({ 'x-csrf-token': 'a'.repeat(43) }), 'not that of this session'],
    ['another origin', () => ({ origin: 'https://evil.test' }), 'another origin'],
    ['another port of this machine', () => ({ origin: 'http://127.0.0.1:1' }), 'another origin'],
    ['an opaque origin', () => ({ origin: 'null' }), 'another origin'],
    ['an origin with a path', () => ({ origin: `${service.origin}/` }), 'another origin'],
    ['a foreign Host', () => ({ host: 'evil.test', origin: 'http://evil.test' }), 'its own address only'],
    [
      'a Host that looks local',
      () => ({ host: '127.0.0.1.evil.test', origin: service.origin }),
      'its own address only',
    ],
  ])('changes nothing with %s', async (_, change, words) => {
    const before = (await list({ cookie: browser.cookie })).body;
    const refused = await create({ ...ofPage(), ...change() });
    expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining(words) } });
    expect((await list({ cookie: browser.cookie })).body).toEqual(before);
  });

  test('changes nothing without an origin', async () => {
    const { origin: _, ...headers } = ofPage();
    expect(await create(headers)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('is missing') },
    });
  });

  test("changes nothing with the CSRF token of another session, or that session's own cookie beside it", async () => {
    const other = await service.browser();
    expect((await create({ ...ofPage(), 'x-csrf-token': other.csrf_token })).status).toBe(403);
    expect((await create({ ...ofPage(), cookie: `${other.cookie}; ${browser.cookie}` })).status).toBe(401);
  });

  test('reads with the cookie alone, but not for a page of another origin or name', async () => {
    const { cookie } = browser;
    const port = service.host.split(':')[1] ?? '';
    expect((await list({ cookie })).status).toBe(200);
    expect((await list({ cookie: `other=1; ${cookie}; ${cookie.split('=')[0]}=${'x'.repeat(43)}` })).status).toBe(200);
    expect((await list({ cookie, host: `localhost:${port}`, origin: `http://localhost:${port}` })).status).toBe(200);
    expect((await list({ cookie, origin: 'https://evil.test' })).status).toBe(403);
    expect((await list({ cookie, host: 'evil.test' })).status).toBe(403);
  });

  test('with a key in a header the key counts, and no token is needed', async () => {
    expect((await create({ cookie: browser.cookie, 'x-api-key': service.key.text })).status).toBe(201);
    expect((await create({ ...ofPage(), 'x-api-key': 'lf_wrong' })).status).toBe(401);
    const session = await service.send({ path: '/v1/session', headers: { 'x-api-key': service.key.text } });
    expect(session.status).toBe(401);
  });
});

describe('a request to an agent with a session, where agents have no origin of their own', () => {
  // A web server without a second name is in front.
  let before: { service: SessionFixture; browser: Browser };
  beforeAll(async () => {
    before = { service, browser };
    service = await openSessionFixture({ publicUrl: 'https://landfall.test/' });
    browser = await service.browser();
  });
  afterAll(async () => {
    await service.close();
    ({ service, browser } = before);
  });
  const path = () => `/agents/${service.deployment}/threads`;
  const request = (headers: Headers, more: { method?: string; path?: string } = {}) =>
    service.send({ path: path(), headers, ...more });
  beforeEach(() => {
    service.requested.length = 0;
    service.agentStatus.code = 200;
    for (const name of Object.keys(service.agentHeaders)) delete service.agentHeaders[name];
  });

  test('reaches it without the cookie and the token of the session', async () => {
    const headers = {
      ...ofPage(),
      cookie: `first=1; ${browser.cookie}; __Host-landfall_session=x; last=2`,
      authorization: 'Bearer for-the-agent',
      'x-landfall-background': '1',
      'x-tenant-id': browser.tenant_id,
    };
    expect((await request(headers, { method: 'POST' })).status).toBe(200);
    const [{ headers: seen } = { headers: {} }] = service.requested;
    expect(seen).toMatchObject({ cookie: 'first=1; last=2', authorization: 'Bearer for-the-agent' });
    expect(JSON.stringify(seen)).not.toContain(browser.csrf_token);
    for (const name of ['x-landfall-background', 'x-tenant-id']) expect(seen).not.toHaveProperty(name);
    await request(ofPage());
    expect(service.requested[1]?.headers).not.toHaveProperty('cookie');
  });

  test('with a key the agent does not get the cookie of a session either', async () => {
    await request({ cookie: browser.cookie, 'x-api-key': service.key.text });
    expect(service.requested.map(({ headers }) => headers.cookie)).toEqual([undefined]);
  });

  test.each<[what: string, headers: () => Headers]>([
    ['a page that is opened', () => ({ cookie: browser.cookie })],
    ['another CSRF token', () => ({ ...ofPage(), 'x-csrf-token': 'a' })],
    ['another origin', () => ({ ...ofPage(), origin: 'https://evil.test' })],
    [
      'a WebSocket, for which pages can send no header',
      () => ({ cookie: browser.cookie, origin: service.origin, connection: 'Upgrade', upgrade: 'websocket' }),
    ],
  ])('is refused for %s, and the agent sees nothing of it', async (_, headers) => {
    expect((await request(headers())).status).toBe(403);
    expect(service.requested).toEqual([]);
  });

  test("finds no agent of a tenant that is not the session's", async () => {
    const stranger = await service.browser((await service.addKey('stranger', [service.other])).text);
    const headers = { ...ofPage(), cookie: stranger.cookie, 'x-csrf-token': stranger.csrf_token };
    expect((await request(headers)).status).toBe(404);
  });

  test('lets a response set no session, act on no other path and run nothing as a page', async () => {
    const ofTheOrigin = {
      'clear-site-data': '"cookies"',
      'service-worker-allowed': '/',
      'strict-transport-security': 'max-age=31536000',
      'alt-svc': 'h2="evil.test:443"',
      nel: '{"report_to":"evil","max_age":31536000}',
      'report-to': '{"group":"evil","max_age":31536000,"endpoints":[{"url":"https://evil.test"}]}',
      'reporting-endpoints': 'evil="https://evil.test"',
    };
    Object.assign(service.agentHeaders, ofTheOrigin, {
      'set-cookie': [
        'own=1; Path=/',
        'landfall_session=stolen; Path=/',
        ' LANDFALL_SESSION =; Max-Age=0',
        '__Host-landfall_session=stolen; Path=/; Secure',
        '=landfall_session=stolen',
        'landfall_session',
        `${browser.cookie.split('=')[0]}=stolen; Path=/`,
      ],
      'www-authenticate': 'Basic realm="Your password"',
      'content-security-policy': "default-src 'none'",
    });
    const { headers } = await request(ofPage());
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none', sandbox",
      'x-content-type-options': 'nosniff',
    });
    const bySession = ['set-cookie', 'www-authenticate', ...Object.keys(ofTheOrigin)];
    for (const name of bySession) expect(headers).not.toHaveProperty(name);
    const byKey = (await request({ 'x-api-key': service.key.text })).headers;
    expect(byKey).toMatchObject({ 'set-cookie': ['own=1; Path=/'], 'www-authenticate': expect.any(String) });
    for (const name of Object.keys(ofTheOrigin)) expect(byKey).not.toHaveProperty(name);
  });

  test.each([301, 302, 303, 307, 308])('passes on no redirect (%i), which a browser would follow', async (code) => {
    service.agentStatus.code = code;
    const location = `/v2/deployments/${service.deployment}`;
    service.agentHeaders['location'] = location;
    const refused = await request(ofPage(), { method: 'POST' });
    expect(refused.status).toBe(502);
    expect(refused.headers).not.toHaveProperty('location');
    const byKey = await request({ 'x-api-key': service.key.text }, { method: 'POST' });
    expect(byKey).toMatchObject({ status: code, headers: { location } });
  });

  test('a file of its UI, which needs no session, runs nothing as a page', async () => {
    const file = `/agents/${service.deployment}/ui/graph/entrypoint.js`;
    const { status, headers } = await request({ cookie: browser.cookie }, { path: file });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' });
    expect(service.requested.map(({ headers: seen }) => seen.cookie)).toEqual([undefined]);
  });
});
