import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import { linkPackages, linkScript } from '../installed-packages.ts';
import { root } from '../journey/fixture.ts';
import { watchPage, type WatchedPage } from '../../src/demo/chromium.ts';
import { expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { press, type } from './keyboard.ts';
import { signInUnheard } from './other-session.ts';
import { button } from './playground/actions.ts';

let console: ConsoleFixture;
let echo: Deployment;
beforeAll(async () => {
  console = await openConsoleFixture();
  echo = await console.deploy('echo-agent');
});
afterAll(() => console.close());

const unreachable = 'The service could not be reached.';

/** Another tab of the browser of a page. */
async function openTab({ page }: WatchedPage, path: string): Promise<WatchedPage> {
  const { url } = console.services.service;
  const opened = watchPage(await page.context().newPage(), url);
  await opened.page.goto(`${url}/console/${path}`);
  return opened;
}

/** Forgets what the browser itself reports of requests that the test has made fail. */
function expectCleanBut(expected: RegExp, ...opened: WatchedPage[]): void {
  for (const each of opened) {
    each.errors = each.errors.filter((text) => !expected.test(text));
    expectClean(each);
  }
}

test('rejects the second of two conflicting changes, and says so', async () => {
  const { control } = console.services;
  const settings = `deployments/${echo.id}/settings`;
  const first = await console.open(settings);
  const second = await openTab(first, settings);
  const buildCommand = (page: Page) => page.getByLabel('Build command');
  const save = (page: Page) => page.getByRole('region', { name: 'Save' }).getByRole('button', { name: 'Save' });

  // The second one reads nothing by itself any more.
  await second.page.addInitScript('globalThis.setInterval = () => 0');
  await second.page.reload();
  await type(buildCommand(second.page), 'node --version');
  await type(buildCommand(first.page), 'node --help');
  await press(save(first.page));
  await first.page.getByText('Nothing is changed.').waitFor();
  await press(save(second.page));
  await second.page.getByText('Changed since this form was loaded: Build command.').waitFor();
  expect((await control.getDeployment(echo.id)).source_config.build_command).toBe('node --help');
  await expect.poll(() => buildCommand(second.page).inputValue()).toBe('node --version');
  await press(button(second.page, 'Load the newer settings'));
  await press(save(second.page));
  await second.page.getByText('Nothing is changed.').waitFor();
  expect((await control.getDeployment(echo.id)).source_config.build_command).toBe('node --version');
  expectClean(first);
  expectClean(second);
  await second.page.close();

  // Both open the dialog; only the first one redeploys.
  const third = await openTab(first, `deployments/${echo.id}`);
  await press(first.page.getByRole('link', { name: 'Revisions', exact: true }));
  for (const { page } of [first, third]) {
    await page.getByRole('listitem', { name: /^Revision / }).waitFor();
    await press(button(page, 'Redeploy'));
    await page.getByRole('dialog').waitFor();
  }
  await press(first.page.getByRole('dialog').getByRole('button', { name: 'Redeploy' }));
  await first.page.getByText('Redeploy of').waitFor();
  await press(third.page.getByRole('dialog').getByRole('button', { name: 'Redeploy' }));
  await third.page.getByRole('dialog').getByRole('alert').waitFor();
  await press(third.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }));
  await button(third.page, 'Redeploy').and(third.page.locator(':focus')).waitFor();
  await third.page.getByText('Redeploy of').waitFor();
  expect((await control.listRevisions(echo.id, {})).resources).toHaveLength(2);
  for (const { page } of [first, third]) {
    await page.getByRole('listitem').filter({ hasText: 'Redeploy of' }).getByText('Live', { exact: true }).waitFor();
  }

  // The public client of the playground sends the token of the session that the browser has by now.
  await signInUnheard(console, first.page.context());
  await press(first.page.getByRole('link', { name: 'Playground', exact: true }));
  await type(first.page.getByLabel('input', { exact: true }), 'Ada');
  await signInUnheard(console, first.page.context());
  await press(button(first.page, 'Run'));
  await first.page.getByRole('region', { name: 'State' }).getByText('"hello Ada"').first().waitFor();
  expectCleanBut(/status of 4(?:03|12)/, first, third);
});

test('sends a filled form after the service was killed and started, once', async () => {
  const { control } = console.services;
  const folder = join(console.services.folder, 'filled');
  await cp(join(root, 'examples/echo-agent'), folder, { recursive: true });
  await writeFile(join(folder, 'link.mjs'), linkScript);
  const opened = await console.open('new');
  const { page } = opened;
  await page.getByLabel('Choose a folder').setInputFiles(folder);
  await page.getByText(/^filled: \d+ files, /).waitFor();
  await press(page.getByText('Advanced settings'));
  await type(page.getByLabel('Install command'), linkPackages);
  await press(button(page, 'Add a secret'));
  await type(page.getByLabel('Name of secret 1'), 'GREETING');
  await type(page.getByLabel('Value of secret 1'), 'hello');

  await console.services.kill();
  await press(button(page, 'Deploy'));
  await page.getByText(unreachable).waitFor();
  await console.services.startAgain();
  // The service handles the request, but the response is lost.
  await page.route(
    '**/v2/deployments',
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await press(button(page, 'Deploy'));
  await page.getByText(unreachable).waitFor();
  await expect
    .poll(async () => (await control.listDeployments({})).resources.map(({ name }) => name).toSorted())
    .toEqual(['echo-agent', 'filled']);
  await expect.poll(() => page.getByLabel('Value of secret 1').inputValue()).toBe('hello');
  await press(button(page, 'Deploy'));
  await page
    .getByRole('region', { name: /^Revision / })
    .getByText('Live', { exact: true })
    .waitFor({ timeout: 120_000 });
  const made = (await control.listDeployments({})).resources.filter(({ name }) => name === 'filled');
  expect(made).toHaveLength(1);
  expect(made[0]?.secrets?.map(({ name }) => name)).toEqual(['GREETING']);
  expectCleanBut(/ERR_(?:FAILED|CONNECTION_REFUSED)/, opened);
});

test('deletes in one tab what others show', async () => {
  const { control } = console.services;
  const list = await console.open();
  const shown = await openTab(list, `deployments/${echo.id}/settings`);
  await type(shown.page.getByLabel('Build command'), 'not saved');
  await list.page.getByRole('link', { name: 'echo-agent', exact: true }).waitFor();
  await control.deleteDeployment(echo.id, { deleteTracingProject: false });
  await list.page.getByRole('link', { name: 'echo-agent', exact: true }).waitFor({ state: 'detached' });
  await shown.page.getByRole('heading', { name: 'There is no such deployment' }).waitFor();
  expect(await shown.page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  expectCleanBut(/status of 404/, list, shown);
});
