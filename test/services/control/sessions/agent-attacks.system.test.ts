// What an agent may send to a real browser whose person is signed in to the console.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { launchChromium, type Chromium } from '../../../../src/demo/chromium.ts';
import { openSessionFixture, type Browser, type SessionFixture } from './fixture.ts';

let service: SessionFixture;
let chromium: Chromium;
let person: Browser;
let context: BrowserContext;
let page: Page;
/** A page of the attacker, on another port of the same host: the same site as the console. */
let attacker: Server;
let attackerUrl: string;
let attackerPage = '';

beforeAll(async () => {
  service = await openSessionFixture();
  chromium = await launchChromium(tmpdir());
  attacker = createServer((_, response) => response.setHeader('content-type', 'text/html').end(attackerPage));
  await once(attacker.listen(0, '127.0.0.1'), 'listening');
  const address = attacker.address();
  attackerUrl = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
});
afterAll(async () => {
  await chromium.close();
  attacker.close();
  await service.close();
});

/** What a script does where it shares the origin of the session. */
const steal = `
  document.title = 'ran';
  fetch('/v1/session').then((response) => response.json()).then(({ csrf_token }) =>
    fetch('/v1/api-keys', {
      method: 'POST',
      headers: { 'x-csrf-token': csrf_token, 'content-type': 'application/json' },
      body: '{"name":"stolen"}',
    }));`;
const html = `<title>page of the agent</title><script>${steal}</script>`;
const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': '*',
};

beforeEach(async () => {
  person = await service.browser();
  context = await chromium.browser.newContext();
  const [name = '', value = ''] = person.cookie.split('=');
  await context.addCookies([{ name, value, url: service.origin, httpOnly: true, sameSite: 'Strict' }]);
  page = await context.newPage();
  service.agentStatus.code = 200;
  service.agentBody.text = html;
  service.requested.length = 0;
});
afterEach(async () => {
  await context.close();
  for (const name of Object.keys(service.agentHeaders)) delete service.agentHeaders[name];
});

const agent = (path: string, origin = service.origin): string => `${origin}/agents/${service.deployment}${path}`;
/** The agents' own origin. */
const apart = (): string => service.origin.replace('127.0.0.1', 'agents.localhost');
const uiFile = (origin = service.origin): string => agent('/ui/x/entrypoint.js', origin);
/** A document of the console's origin, from which a test acts as a script there would. */
const openOwn = (): Promise<unknown> => page.goto(`${service.origin}/v1/session`);
/** A document that is as active as a page of an agent could ever be at an origin. */
async function openActive(origin: string): Promise<void> {
  await page.route(agent('/page', origin), (route) => route.fulfill({ contentType: 'text/html', body: 'page' }));
  await page.goto(agent('/page', origin));
}

/** Fails if a key was made, or the person is signed out or in as someone else. */
async function expectUntouched(): Promise<void> {
  const keys = await service.send({ path: '/v1/api-keys', headers: { 'x-api-key': service.key.text } });
  expect(JSON.stringify(keys.body)).not.toContain('stolen');
  const cookies = await context.cookies(service.origin);
  expect(cookies.map(({ name, value }) => `${name}=${value}`)).toEqual([person.cookie]);
  for (const open of context.pages()) expect(await open.title()).not.toBe('ran');
}

test.each<[what: string, headers: Record<string, string | string[]>]>([
  ['names in Connection', { connection: 'content-security-policy, x-content-type-options, content-type' }],
  ['cookies', { 'set-cookie': ['own=1; Path=/', 'landfall_session=stolen; Path=/'] }],
  ['the clearing of the site', { 'clear-site-data': '"*"' }],
  ['a refresh', { refresh: '0; url=/console' }],
  ['preloads', { link: '</v1/audit>; rel=preload; as=script, </v1/keys>; rel=prefetch' }],
  ['a type by sniffing', { 'content-type': '' }],
  ['a script as XML', { 'content-type': 'application/xhtml+xml' }],
])('a file of a UI that is opened does nothing with %s', async (_, headers) => {
  Object.assign(service.agentHeaders, headers);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  for (const file of [uiFile(), agent('/ui/x/entrypoint.css')]) await page.goto(file);
  expect(await page.content()).not.toContain('page of the agent');
  expect(requests).toEqual([uiFile(), agent('/ui/x/entrypoint.css')]);
  await expectUntouched();
});

test.each([301, 302, 307])('a file of a UI does not redirect a tag (%i)', async (code) => {
  service.agentStatus.code = code;
  service.agentHeaders['location'] = '/v1/audit';
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  attackerPage = `<script src="${uiFile()}"></script>`;
  await page.goto(attackerUrl);
  expect(requests.filter((url) => url.startsWith(service.origin))).toEqual([uiFile()]);
  await expectUntouched();
});

test('a frame, an object and a window of a file of a UI run nothing', async () => {
  attackerPage = `<iframe src="${uiFile()}"></iframe><object data="${uiFile()}"></object><embed src="${uiFile()}">`;
  await page.goto(attackerUrl);
  const opening = context.waitForEvent('page');
  await page.evaluate(`void open('${uiFile()}')`);
  const opened = await opening;
  await opened.waitForLoadState();
  for (const frame of [...page.frames(), ...opened.frames()]) {
    expect(await frame.content()).not.toContain('page of the agent');
  }
  await expectUntouched();
});

test.each<[where: string, origin: () => string]>([
  ['the console', () => service.origin],
  ['agents', apart],
])('a file of a UI is no worker of any kind for a script on the origin of %s', async (_, origin) => {
  service.agentBody.text = `onconnect = ({ ports: [port] }) => port.postMessage('ran'); postMessage('ran')`;
  Object.assign(service.agentHeaders, { 'service-worker-allowed': '/', 'content-type': 'text/javascript' });
  await openActive(origin());
  const started = await page.evaluate(`(async () => {
    const registered = await navigator.serviceWorker.register('${uiFile(origin())}').then(
      () => 'registered',
      () => 'refused',
    );
    const messageOf = (worker, port) =>
      new Promise((resolve) => {
        port.onmessage = () => resolve('ran');
        worker.onerror = () => resolve('refused');
        setTimeout(resolve, 10_000, undefined);
      });
    // A busy browser may lose the event of a worker whose file was refused: then another one is started.
    const outcomeOf = async (start) => {
      for (;;) {
        const worker = start();
        const outcome = await messageOf(worker, worker.port ?? worker);
        if (outcome !== undefined) return outcome;
      }
    };
    const file = '${uiFile(origin())}';
    return [
      registered,
      ...(await Promise.all([outcomeOf(() => new Worker(file)), outcomeOf(() => new SharedWorker(file))])),
    ];
  })()`);
  expect(started).toEqual(['refused', 'refused', 'refused']);
  await expectUntouched();
});

test('a window of a file of a UI cannot direct the page of the console that opened it', async () => {
  service.agentBody.text = `opener.location = '${attackerUrl}'`;
  await openOwn();
  const opening = context.waitForEvent('page');
  await page.evaluate(`void open('${uiFile()}'); void open('${uiFile(apart())}')`);
  await (await opening).waitForLoadState();
  await expect.poll(() => context.pages().length).toBe(3);
  for (const opened of context.pages()) await opened.waitForLoadState();
  expect(page.url()).toBe(`${service.origin}/v1/session`);
  await expectUntouched();
});

test('a response that the attacker has put into the cache runs nothing when it is opened', async () => {
  Object.assign(service.agentHeaders, cors, { 'cache-control': 'public, max-age=3600', 'set-cookie': ['own=1'] });
  attackerPage = '<title>attacker</title>';
  await page.goto(attackerUrl);
  const own = await service.addKey('of the attacker', [service.tenant]);
  const url = agent('/page');
  const read = await page.evaluate(
    async ([address = '', key = '']) => {
      const response = await fetch(address, { headers: { 'x-api-key': key }, credentials: 'include' }).catch(() =>
        fetch(address, { headers: { 'x-api-key': key } }),
      );
      return response.text();
    },
    [url, own.text],
  );
  expect(read).toBe(html);
  const before = service.requested.length;
  await page.goto(url);
  // It came from the cache: the gateway would have refused it.
  expect([service.requested.length, await page.title()]).toEqual([before, 'page of the agent']);
  await page.waitForLoadState();
  await expectUntouched();
});

test('a page of the console gets data, and no response of an agent directs its requests', async () => {
  await openOwn();
  const headers = await service.access(person);
  const send = () =>
    page.evaluate(
      async ([url, sent]) => {
        const response = await fetch(url, { method: 'POST', headers: sent, credentials: 'include' }).catch(() =>
          fetch(url, { method: 'POST', headers: sent }),
        );
        return [response.status, response.url];
      },
      [agent('/threads', apart()), headers] as const,
    );
  Object.assign(service.agentHeaders, {
    'set-cookie': ['own=1; Path=/'],
    'clear-site-data': '"cookies"',
    'www-authenticate': 'Basic realm="Your password"',
  });
  expect(await send()).toEqual([200, agent('/threads', apart())]);
  service.agentStatus.code = 307;
  service.agentHeaders['location'] = '/v1/api-keys';
  expect(await send()).toEqual([502, agent('/threads', apart())]);
  expect(await context.cookies(apart())).toEqual([]);
  await expectUntouched();
});

test('a script on the origin of agents can neither read nor use the session', async () => {
  await openActive(apart());
  const headers = JSON.stringify(await service.access(person));
  const outcome = await page.evaluate(`(async () => {
    const statusOf = (url, init = {}) =>
      fetch(url, { credentials: 'include', ...init }).then(
        ({ status }) => status,
        () => 'refused',
      );
    return [
      await statusOf('/v1/session'),
      await statusOf('${agent('/threads', '')}', { headers: ${headers} }),
      await statusOf('${agent('/threads')}', { headers: ${headers} }),
      await statusOf('${service.origin}/v1/session'),
      await statusOf('${service.origin}/v1/api-keys', { method: 'POST', body: '{"name":"stolen"}' }),
      document.cookie,
    ];
  })()`);
  expect(outcome).toEqual([404, 403, 'refused', 'refused', 'refused', '']);
  expect(service.requested).toEqual([]);
  await expectUntouched();
});

test('a page on the origin of agents plants no cookie that reaches the console', async () => {
  const local = service.origin.replace('127.0.0.1', 'localhost');
  const [name = '', value = ''] = person.cookie.split('=');
  await context.addCookies([{ name, value, url: local, httpOnly: true, sameSite: 'Strict' }]);
  await openActive(apart());
  await page.evaluate(`
    for (const domain of ['localhost', '.localhost', 'agents.localhost', '127.0.0.1']) {
      document.cookie = '${name}=${'a'.repeat(43)}; Path=/v1; Domain=' + domain;
    }`);
  for (const origin of [local, service.origin]) {
    const cookies = await context.cookies(`${origin}/v1/session`);
    expect(cookies.map((cookie) => `${cookie.name}=${cookie.value}`)).toEqual([person.cookie]);
    await page.goto(`${origin}/v1/session`);
    expect(await page.content()).toContain(person.csrf_token);
  }
});

test.each<[what: string, from: (script: string) => string]>([
  ['another site', (script) => `<script>${script}</script>`],
  ['an opaque origin', (script) => `<iframe sandbox="allow-scripts" srcdoc="<script>${script}</script>"></iframe>`],
])('no response of an agent opens the session or a token to %s', async (_, from) => {
  Object.assign(service.agentHeaders, {
    'access-control-allow-origin': '*',
    'access-control-allow-credentials': 'true',
    'access-control-allow-headers': 'x-csrf-token, x-landfall-agent-access',
    'access-control-allow-methods': '*',
  });
  const token = await service.access(person);
  const attempts = [service.origin, apart()].flatMap((origin) =>
    [{}, { 'x-csrf-token': person.csrf_token }, token].map((headers) => ({ url: agent('/threads', origin), headers })),
  );
  const script = `
    Promise.all(${JSON.stringify(attempts)}.map(({ url, headers }) =>
      fetch(url, { method: 'POST', headers, credentials: 'include' }).then(
        (response) => response.text(),
        () => 'refused',
      ),
    )).then((outcome) => { top.postMessage(outcome, '*'); });`.replaceAll('"', "'");
  attackerPage = `<script>onmessage = ({ data }) => { document.title = JSON.stringify(data); };</script>${from(script)}`;
  await page.goto(attackerUrl);
  await expect.poll(() => page.title()).toMatch(/^\[/);
  expect(JSON.parse(await page.title())).toEqual(attempts.map(() => 'refused'));
  // The agent gets preflights without a token, which it knows nothing of.
  for (const { headers } of service.requested) {
    expect(headers).toHaveProperty('access-control-request-method');
    expect(headers['access-control-request-headers'] ?? '').not.toContain('x-landfall-agent-access');
  }
  await expectUntouched();
});
