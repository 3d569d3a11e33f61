import { serve, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeGuide } from '../../../scripts/guide/write.ts';
import { launchChromium, watchPage, type Chromium, type WatchedPage } from '../../../src/demo/chromium.ts';
import type { Env } from '../../../src/services/control/api/operation.ts';
import { mountGuide } from '../../../src/services/control/guide/serve.ts';
import { expectAccessible, expectClean } from '../../console/fixture.ts';

let folder: string;
let server: ServerType;
let origin: string;
let chromium: Chromium;
const phone = { viewport: { width: 390, height: 844 } };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'landfall-guide-'));
  await writeGuide(folder);
  const app = new Hono<Env>();
  mountGuide(app, folder);
  // Below a path, which the service removes.
  const fetch = ({ url, headers }: Request): Response | Promise<Response> =>
    app.request(new URL(url).pathname.replace(/^\/prefix/, ''), { headers });
  origin = await new Promise((resolve) => {
    server = serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(`http://127.0.0.1:${port}`));
  });
  chromium = await launchChromium(tmpdir());
});
afterAll(async () => {
  await chromium.close();
  server.close();
  await rm(folder, { recursive: true });
});

async function open(path: string, options?: BrowserContextOptions): Promise<WatchedPage> {
  const page = await (await chromium.browser.newContext(options)).newPage();
  page.setDefaultTimeout(120_000);
  const opened = watchPage(page, origin);
  await page.goto(`${origin}/prefix/docs/guide${path}`);
  return opened;
}

const isWiderThanScreen = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth');
const theme = (page: Page): Promise<string | null> => page.locator('html').getAttribute('data-theme');

test('the search finds a section by keyboard, and opens it', async () => {
  const opened = await open('');
  const { page } = opened;
  await page.keyboard.press('Control+k');
  await page.keyboard.type('freeze windows');
  await page.getByRole('dialog').getByRole('link', { name: 'Freeze windows' }).first().waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/deploy-file.html#freeze-windows');
  expect(await page.getByRole('heading', { name: 'Freeze windows' }).isVisible()).toBe(true);
  expectClean(opened);
});

test('says that nothing was found', async () => {
  const { page } = await open('/cli.html');
  await page.keyboard.press('/');
  await page.keyboard.type('zzzzzz');
  await expect.poll(() => page.getByRole('status').textContent()).toBe('Nothing found for “zzzzzz”.');
});

test.each(['/', '/cli.html', '/api/control/deployments.html'])(
  '%s is accessible and fits, on a screen and on a phone',
  async (path) => {
    for (const options of [{}, phone]) {
      const opened = await open(path, options);
      await expectAccessible(opened.page);
      expect(await isWiderThanScreen(opened.page)).toBe(false);
      expectClean(opened);
    }
  },
);

test('a phone shows the pages in a menu', async () => {
  const { page } = await open('/', phone);
  const link = page.locator('#navigation').getByRole('link', { name: 'The command line' });
  expect(await link.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Pages' }).click();
  await link.click();
  await page.getByRole('heading', { level: 1, name: 'The command line' }).waitFor();
});

test('a chosen theme stays on the next page', async () => {
  const { page } = await open('/', { colorScheme: 'light' });
  expect(await theme(page)).toBe(null);
  await page.getByRole('button', { name: 'Theme' }).click();
  expect(await theme(page)).toBe('dark');
  await page.goto(`${origin}/prefix/docs/guide/cli.html`);
  expect(await theme(page)).toBe('dark');
});

test('is read without scripts', async () => {
  const { page } = await open('/cli.html', { javaScriptEnabled: false });
  expect(await page.getByRole('heading', { level: 1, name: 'The command line' }).isVisible()).toBe(true);
});
