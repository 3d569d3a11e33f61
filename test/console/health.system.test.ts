import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { choose, press } from './keyboard.ts';

let console: ConsoleFixture;
beforeAll(async () => {
  console = await openConsoleFixture();
});
afterAll(() => console.close());

const titles = ['Runs a minute', 'Run latency', 'First event of a stream', 'Errors', 'Memory', 'CPU', 'Queue length'];

test('plots the figures of a deployment over a period of choice, with deploys, and shows them as a table', async () => {
  const { service } = console.services;
  const { id, active_revision_id } = await console.deploy('echo-agent');
  const short = (active_revision_id ?? '').slice(0, 8);
  const opened = await console.open(`deployments/${id}/settings`);
  const { page } = opened;
  // Whether the first figures are there already is a matter of time.
  await page.route('**/health?*', (route) => route.fulfill({ json: { step_seconds: 60, points: [], deploys: [] } }));
  await press(page.getByRole('link', { name: 'Health' }));
  await page.getByRole('heading', { name: 'Nothing was measured in the last 1 hour' }).waitFor();
  await expectAccessible(page);
  await page.unroute('**/health?*');
  await page.getByRole('list', { name: 'Deploys' }).getByRole('link', { name: short }).waitFor();

  const startRun = async (input: object): Promise<void> => {
    const response = await fetch(`${service.url}/agents/${id}/runs/wait`, {
      method: 'POST',
      headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'echo', input }),
    });
    await response.text();
  };
  await Promise.all([
    startRun({ input: 'Ada', sleep_ms: 50 }),
    startRun({ input: 'Bob' }),
    startRun({ input: 'Eve', fail: 'no' }),
  ]);
  await page.getByRole('img', { name: /^Errors: .*Failed runs highest 1/ }).waitFor({ timeout: 120_000 });
  for (const title of titles) await page.getByRole('heading', { name: title, exact: true }).waitFor();
  await page.getByRole('img', { name: /^Run latency: p50 highest \d/ }).waitFor();
  await page.getByRole('img', { name: /^Memory: highest .* MB/ }).waitFor();
  await expectAccessible(page);

  // The value under the cursor, in all plots at once.
  await page.getByText('Latest values. Hover over a plot to see an earlier moment.').waitFor();
  await page.getByRole('img', { name: /^Memory/ }).hover();
  await page.getByText('Latest values.', { exact: false }).waitFor({ state: 'detached' });

  // The canvas follows the width of the page and the theme.
  const canvas = page.getByRole('img', { name: /^Memory/ }).locator('canvas');
  const pixels = (): Promise<string> => page.evaluate("document.querySelector('canvas').toDataURL()");
  const dark = await pixels();
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(pixels).not.toBe(dark);
  const light = await pixels();
  await choose(page.getByLabel('Theme'), 'dark');
  await expect.poll(pixels).not.toBe(light);
  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(async () => (await canvas.boundingBox())?.width).toBeLessThan(340);
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  await page.setViewportSize({ width: 1280, height: 800 });
  await choose(page.getByLabel('Theme'), 'system');

  // Another period, which stays over a reload; and the figures as a table.
  await press(page.getByRole('link', { name: '24 hours' }));
  await page.reload();
  expect(new URL(page.url()).searchParams.get('range')).toBe('24h');
  await page.getByRole('img', { name: /^Memory/ }).waitFor();
  await press(page.getByRole('button', { name: 'Show as a table' }));
  const table = page.getByRole('group', { name: 'Figures' });
  await table.getByRole('columnheader', { name: 'Run latency, p95' }).waitFor();
  await table.getByRole('cell', { name: short }).waitFor();
  await table.getByRole('cell', { name: / MB$/ }).first().waitFor();
  await expectAccessible(page);
  expectClean(opened);

  // Some browsers report a language that is no valid tag, which the plot library does not expect.
  const odd = await console.open(`deployments/${id}/health`, {
    initScript: `
      globalThis.readsOfLanguage = 0;
      Object.defineProperty(navigator, 'language', {
        configurable: true,
        get: () => ((globalThis.readsOfLanguage += 1), 'en-US@posix'),
      });`,
  });
  await odd.page
    .getByRole('img', { name: /^Memory/ })
    .locator('canvas')
    .waitFor();
  expect(await odd.page.evaluate('readsOfLanguage')).toBeGreaterThan(0);
  await odd.page.setViewportSize({ width: 390, height: 844 });
  const tabs = odd.page.getByRole('navigation', { name: 'Deployment' });
  await expect.poll(async () => (await tabs.boundingBox())?.height).toBeLessThan(60);
  expectClean(odd);
});
