import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Frame, Page } from 'playwright-core';
import { openConsoleFixture, type ConsoleFixture } from './fixture.ts';

let console: ConsoleFixture;
let url: string;
let agentId: string;
/** A server at the same host: browsers send it the cookies of the service, and count both as the same site. */
let foreign: Server;
let foreignUrl: string;
let foreignPage = '';

/** Tries what a page may try with the session of the browser, and reports the results in its title. */
const attack = (origin: string): string => `
  document.title = 'ran';
  (async () => {
    const outcome = {};
    const attempt = async (name, path, init) => {
      try {
        const response = await fetch('${origin}/' + path, { credentials: 'include', ...init });
        outcome[name] = response.status + ' ' + (await response.text()).slice(0, 40);
      } catch (error) {
        outcome[name] = 'refused';
      }
    };
    const json = { 'content-type': 'application/json' };
    await attempt('read', 'v2/deployments', {});
    await attempt('session', 'v1/session', {});
    await attempt('agent', 'agents/AGENT/threads', { method: 'POST', headers: json, body: '{}' });
    await attempt('write', 'v1/api-keys', { method: 'POST', headers: json, body: '{"name":"stolen"}' });
    await attempt('simple write', 'v1/api-keys', { method: 'POST', body: '{"name":"stolen"}' });
    await attempt('blind write', 'v1/api-keys', { method: 'POST', mode: 'no-cors', body: '{"name":"stolen"}' });
    await attempt('delete', 'v2/deployments/AGENT', { method: 'DELETE', headers: { 'x-csrf-token': 'x' } });
    outcome.cookie = document.cookie;
    document.title = JSON.stringify(outcome);
  })();
`;

beforeAll(async () => {
  foreign = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end(foreignPage);
  }).listen(0, '127.0.0.1');
  await once(foreign, 'listening');
  const address = foreign.address();
  foreignUrl = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  console = await openConsoleFixture();
  ({ url } = console.services.service);

  // An agent whose process responds to every request for a page with one that attacks.
  const repository = await console.repository('echo-agent');
  const page = `<title>page of the agent</title><script>${attack(url)}</script>`;
  await repository.edit(
    'src/graph.ts',
    'import { END,',
    `import { Server, type IncomingMessage, type ServerResponse } from 'node:http';
const emit: (...args: unknown[]) => boolean = Server.prototype.emit;
Server.prototype.emit = function (this: Server, ...args: unknown[]) {
  const [event, request, response] = args as [string, IncomingMessage, ServerResponse];
  if (event !== 'request' || !request.url?.includes('attack')) return emit.apply(this, args);
  response.setHeader('content-type', 'text/html').end(${JSON.stringify(page)});
  return true;
};
import { END,`,
  );
  await repository.commit('Attack');
  agentId = (await console.deploy('echo-agent', { repository })).id;
});
afterAll(async () => {
  foreign.close();
  await console.close();
});

const keys = async (): Promise<string> => {
  const { apiKey } = console.services.service;
  return (await fetch(`${url}/v1/api-keys`, { headers: { 'x-api-key': apiKey } })).text();
};
const untouched = async (): Promise<void> => {
  expect(await keys()).not.toContain('stolen');
  const { status } = await console.services.control.getDeployment(agentId);
  expect(status).not.toBe('AWAITING_DELETE');
};
const outcomeOf = async (page: Page | Frame): Promise<unknown> => {
  await expect.poll(() => page.title()).toMatch(/^\{/);
  return JSON.parse((await page.title()).replaceAll('AGENT', agentId));
};
const allRefused = {
  read: 'refused',
  session: 'refused',
  agent: 'refused',
  write: 'refused',
  'simple write': 'refused',
  'blind write': '0 ',
  delete: 'refused',
  cookie: '',
};

test('a page that an agent serves runs nothing with the session of the browser', async () => {
  const { page: own } = await console.open();
  const page = await own.context().newPage();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  const address = `${url}/agents/${agentId}/attack`;
  const refused = await page.goto(address);
  expect(refused?.status()).toBe(403);
  expect(await page.content()).not.toContain('page of the agent');

  // A path that needs no session.
  const file = `${url}/agents/${agentId}/ui/attack/entrypoint.js`;
  const notShown = await page.goto(file);
  expect(notShown?.status()).toBe(403);
  expect(await page.content()).not.toContain('page of the agent');
  expect(requests).toEqual([address, file]);

  // A frame of it in a page of others, and the response of a request of the console as a document of its own.
  foreignPage = `<iframe src="${file}"></iframe>`;
  await page.goto(foreignUrl);
  await expect.poll(() => page.frames().length).toBe(2);
  await expect.poll(() => page.frames()[1]?.content()).toContain('Nothing of an agent is shown');
  await untouched();
  await own.reload();
  await own.getByRole('link', { name: 'echo-agent', exact: true }).waitFor();
});

test('a page of another origin reads and changes nothing with the session of the browser', async () => {
  const { page: own } = await console.open();
  const page = await own.context().newPage();
  foreignPage = `<title>foreign</title><script>${attack(url).replaceAll('AGENT', agentId)}</script>`;
  await page.goto(foreignUrl);
  expect(await outcomeOf(page)).toEqual(allRefused);

  // Without any session there is none to use either: the same in a browser of its own.
  const stranger = await (await console.newContext()).newPage();
  await stranger.goto(foreignUrl);
  expect(await outcomeOf(stranger)).toEqual(allRefused);

  // A form needs no permission to be sent.
  for (const [action, method] of [
    ['v1/api-keys', 'post'],
    [`v2/deployments/${agentId}`, 'post'],
    [`agents/${agentId}/threads`, 'post'],
    ['v1/sessions', 'post'],
  ]) {
    foreignPage = `<form method="${method}" action="${url}/${action}" enctype="text/plain">
      <input name='{"name":"stolen","ignored":"' value='"}' /><button>Send</button></form>`;
    await page.goto(foreignUrl);
    const sent = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Send' }).press('Enter');
    const response = await sent;
    expect({ action, isRefused: response.status() >= 400 }).toEqual({ action, isRefused: true });
  }
  await untouched();
  await own.reload();
  await own.getByRole('button', { name: 'Sign out' }).waitFor();
});

test('the console is shown in no frame, and a page that opens it cannot reach into it', async () => {
  const { page: own } = await console.open();
  const page = await own.context().newPage();
  foreignPage = `<title>foreign</title><iframe src="${url}/console" title="console"></iframe>
    <a href="${url}/console/workspace/keys" target="opened" rel="opener">open</a>
    <button onclick="opened = window.open('${url}/console/workspace/keys')">Open</button>`;
  const framed = page.waitForResponse((response) => response.url() === `${url}/console`);
  await page.goto(foreignUrl);
  expect((await framed).headers()).toMatchObject({ 'x-frame-options': 'DENY' });
  const [, frame] = page.frames();
  await expect.poll(() => frame?.url()).toMatch(/^chrome-error:/);

  const opening = page.context().waitForEvent('page');
  await page.getByRole('button', { name: 'Open' }).press('Enter');
  const opened = await opening;
  await opened.getByRole('heading', { name: 'API keys' }).waitFor();
  // The browser has cut the two apart.
  expect(await page.evaluate('opened.closed')).toBe(true);
  expect(await opened.evaluate('window.opener')).toBe(null);
});
