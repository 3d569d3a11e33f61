// What the page sends, and what it makes of responses that only an agent or another tab would cause.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { watchPage } from '../../src/demo/chromium.ts';
import { expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { press, type } from './keyboard.ts';

let console: ConsoleFixture;
let id: string;
beforeAll(async () => {
  console = await openConsoleFixture();
  const { control } = console.services;
  const created = await control.createDeployment({
    name: 'unbuilt',
    source: 'internal_source',
    source_config: {},
    source_revision_config: { graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  id = created.id;
});
afterAll(() => console.close());

test('an agent can neither end the session nor direct requests to the service', async () => {
  const { page, errors } = await console.open();
  let directed = 0;
  await page.route('**/redeploy', (route) => {
    directed += 1;
    return route.abort();
  });
  let response: { status: number; headers?: Record<string, string> } = { status: 401 };
  await page.route(`**/agents/${id}/**`, (route) =>
    route.fulfill({
      body: '{}',
      ...response,
      headers: { 'access-control-allow-origin': '*', ...response.headers },
    }),
  );
  await page.goto(`${console.services.service.url}/console/deployments/${id}/store`);
  await page.getByText('The service responded with 401').first().waitFor();
  response = { status: 307, headers: { location: `/v2/deployments/${id}/revisions/${id}/redeploy` } };
  await page.reload();
  await page.getByText('The response was a redirect').first().waitFor();
  expect([directed, await page.getByRole('button', { name: 'Sign out' }).isVisible()]).toEqual([0, true]);
  expect(errors.filter((error) => !error.includes('Failed to load resource'))).toEqual([]);
});

test('the page calls an agent at the own origin of agents, with one token for all requests', async () => {
  const { page } = await console.open();
  const tokens: unknown[] = [];
  page.on('request', (request) => request.url().endsWith('/v1/session/agents') && tokens.push(request.postDataJSON()));
  const path = `/console/deployments/${id}/store`;
  const sent = page.waitForRequest(`**/agents/${id}/**`);
  await page.goto(`${console.services.service.url}${path}`);
  const headers = await (await sent).allHeaders();
  expect(new URL((await sent).url()).hostname).toBe('agents.localhost');
  expect(headers).toHaveProperty('x-landfall-agent-access');
  for (const name of ['cookie', 'x-csrf-token']) expect(headers).not.toHaveProperty(name);
  await page.getByText('No revision of this deployment is live').first().waitFor();
  expect(tokens).toEqual([{ deployment_id: id }]);

  // A browser or a tunnel may not know the name.
  await page.route('http://agents.localhost*/**', (route) => route.abort());
  await page.goto(`${console.services.service.url}${path}`);
  await page.getByText('Agents could not be reached at http://agents.localhost').first().waitFor();
});

test('requests name the workspace of the page, and whether the page is idle', async () => {
  const { page } = await console.open();
  await page.clock.install();
  await page.goto(`${console.services.service.url}/console/`);
  const next = async (minutes: number): Promise<Record<string, string>> => {
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.url().includes('/v2/deployment-summaries')),
      page.clock.fastForward(minutes * 60_000),
    ]);
    return request.headers();
  };
  const tenant = console.services.service.tenantId;
  const used = await next(1);
  expect([used['x-tenant-id'], used['x-landfall-background']]).toEqual([tenant, undefined]);
  expect((await next(5))['x-landfall-background']).toBe('1');
  await page.keyboard.press('Tab');
  expect((await next(1))['x-landfall-background']).toBeUndefined();
});

test('a link that signs in once is used up also by a browser that is signed in', async () => {
  const context = await console.newContext();
  const page = await context.newPage();
  const opened = watchPage(page, console.services.service.url);
  const posts: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && posts.push(new URL(request.url()).pathname));
  await page.goto(`${console.services.service.url}/console/`);
  await type(page.getByLabel('API key'), console.services.service.apiKey);
  await press(page.getByRole('button', { name: 'Sign in' }));
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.goto('about:blank');
  await page.goto(`${console.services.service.url}/console/#code=wrong`);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(posts).toEqual(['/v1/sessions', '/v1/sessions']);
  expect(page.url()).not.toContain('wrong');
  expectClean(opened);
});
