import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { agentRequests } from './agent-data.ts';
import type { WatchedPage } from '../../src/demo/chromium.ts';
import {
  accessibilityProblems,
  expectAccessible,
  expectClean,
  openConsoleFixture,
  type ConsoleFixture,
} from './fixture.ts';
import { focused, press } from './keyboard.ts';

let console: ConsoleFixture;
let opened: WatchedPage;
let page: Page;
/** The address of the pages of the deployment. */
let deployment: string;
/** A name without a place to break it. */
const name = 'n'.repeat(60);

beforeAll(async () => {
  console = await openConsoleFixture();
  const { id } = await console.deploy('echo-agent', { name });
  deployment = `deployments/${id}`;
  const request = agentRequests(console, id);
  for (const input of [{ input: 'Ada' }, { input: 'Bob', fail: `no${'-'.repeat(200)}ink` }]) {
    await request('POST', 'runs/wait', { assistant_id: 'echo', input });
  }
  opened = await console.open(`${deployment}/runs`);
  ({ page } = opened);
});
afterAll(() => console.close());

/** Opens a page and waits until all of it is shown. */
async function goTo(path: string): Promise<void> {
  await page.goto(`${console.services.service.url}/console/${path}`);
  await page.locator('h1').waitFor();
  await expect.poll(() => page.locator('.loading').count()).toBe(0);
}

/** The paths of all pages, with two runs of the deployment. */
async function allPaths(): Promise<string[]> {
  const links = page
    .getByRole('table', { name: 'Runs' })
    .locator('tbody')
    .getByRole('link', { name: /^[0-9a-f]{8}/ });
  await expect.poll(() => links.count(), { timeout: 120_000 }).toBeGreaterThanOrEqual(2);
  const addresses = await links.evaluateAll((all) => all.map((each) => each.getAttribute('href') ?? ''));
  const [left = '', right = ''] = addresses.map((address) => address.split('/').at(-1) ?? '');
  const { control } = console.services;
  const id = deployment.split('/')[1] ?? '';
  const { latest_revision_id } = await control.getDeployment(id);
  return [
    '',
    'new',
    `new?deployment=${id}`,
    deployment,
    ...['settings', 'health', 'playground', 'runs', 'assistants', 'crons', 'store', 'webhooks'].map(
      (each) => `${deployment}/${each}`,
    ),
    `${deployment}/revisions/${latest_revision_id}`,
    `${deployment}/runs/${left}`,
    `${deployment}/runs/compare?left=${left}&right=${right}`,
    ...['keys', 'integrations', 'listeners', 'audit'].map((each) => `workspace/${each}`),
    'deployments/00000000-0000-4000-8000-000000000000',
    'no-such-page',
  ];
}

test('every page fits 360 px, has a title of its own, and breaks no rule in either theme', async () => {
  const titles = new Map<string, string>();
  const problems: string[] = [];
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of await allPaths()) {
    await goTo(path);
    await expect.poll(() => page.title()).not.toMatch(/^(?:Landfall|.*Deployment · Landfall)$/);
    const title = await page.title();
    if (titles.has(title)) problems.push(`${path}: has the title of ${titles.get(title)}: ${title}`);
    titles.set(title, path);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    if (width !== 360) problems.push(`${path}: is ${String(width)} px wide`);
    if ((await page.locator('h1').count()) !== 1) problems.push(`${path}: has not one heading`);
    problems.push(...(await accessibilityProblems(page)).map((problem) => `${path}: ${problem}`));
  }
  expect(problems).toEqual([]);
  opened.errors = opened.errors.filter((text) => !text.includes('status of 404'));
  expectClean(opened);
});

test('every page shows where the focus is, from the link that skips to its content on', async () => {
  const problems: string[] = [];
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const path of [
    '',
    'new',
    deployment,
    `${deployment}/settings`,
    `${deployment}/playground`,
    `${deployment}/runs`,
    `${deployment}/assistants`,
    'workspace/keys',
    'workspace/audit',
  ]) {
    await goTo(path);
    for (let count = 0; count < 60; count += 1) {
      await page.keyboard.press('Tab');
      const { what, isSeen } = await focused(page);
      if (what.startsWith('<body')) break;
      if (!isSeen) problems.push(`${path}: ${what}`);
    }
  }
  expect(problems).toEqual([]);

  await goTo('workspace/keys');
  await page.keyboard.press('Tab');
  expect((await focused(page)).what).toContain('Skip to the content');
  await page.keyboard.press('Enter');
  await page.locator('main:focus').waitFor();
  expect(new URL(page.url()).hash).toBe('');
  await page.keyboard.press('Tab');
  await page.locator('main a:focus').waitFor();

  // Another page is read from its start.
  await press(page.getByRole('link', { name: 'Audit log' }));
  await page.getByRole('heading', { name: 'Workspace: Audit log' }).waitFor();
  await page.locator('main:focus').waitFor();
});

test('a page that cannot be loaded, or fails, says so and offers to load again', async () => {
  await goTo(deployment);
  const chunk = '**/assets/health-*.js';
  await page.route(chunk, (route) => route.abort());
  const tab = page.getByRole('navigation', { name: 'Deployment' }).getByRole('link', { name: 'Health' });
  await press(tab);
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
  await expectAccessible(page);
  // Other pages are not concerned.
  await page.goBack();
  await page.getByRole('heading', { name: 'Revisions' }).waitFor();
  await press(tab);
  await page.unroute(chunk);
  await press(page.getByRole('button', { name: 'Load again' }));
  await page.getByRole('heading', { name }).waitFor();
  await page
    .getByRole('group', { name: /period/i })
    .or(page.getByText('Runs a minute'))
    .first()
    .waitFor();

  await page.route(chunk, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: "export default () => { throw new Error('a fault'); };" }),
  );
  await page.reload();
  await page.getByRole('heading', { name: 'This page has failed' }).waitFor();
  await expectAccessible(page);
  await press(page.getByRole('link', { name: 'Deployments' }));
  await page.getByRole('link', { name }).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
});
