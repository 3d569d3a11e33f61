import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import type { BrowserContext, Page } from 'playwright-core';
import { changeDatabase } from './change-database.ts';
import { watchPage } from '../../src/demo/chromium.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { choose, press, type } from './keyboard.ts';
import { signInUnheard } from './other-session.ts';
import { root } from '../journey/fixture.ts';

let console: ConsoleFixture;
beforeAll(async () => {
  console = await openConsoleFixture();
});
afterAll(() => console.close());

const consoleUrl = (path = ''): string => `${console.services.service.url}/console${path}`;

async function signIn(page: Page, key = console.services.service.apiKey): Promise<void> {
  await type(page.getByLabel('API key'), key);
  await press(page.getByRole('button', { name: 'Sign in' }));
}
const signedIn = (page: Page): Promise<void> => page.getByRole('button', { name: 'Sign out' }).waitFor();

/** Runs a command of the operator of the installation. */
async function operate<Schema extends z.ZodType>(schema: Schema, ...args: string[]): Promise<z.infer<Schema>> {
  const { folder, databaseUrl } = console.services;
  const program = [join(root, 'src/services/control/main.ts'), ...args, '--data', join(folder, 'data'), '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, program, {
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  return schema.parse(JSON.parse(stdout));
}

test('leaves nothing in the log of a browser that is not signed in', async () => {
  const page = await (await console.newContext()).newPage();
  const logged: string[] = [];
  page.on('console', (logLine) => logged.push(logLine.text()));
  await page.goto(consoleUrl());
  await page.getByLabel('API key').waitFor();
  expect(logged).toEqual([]);
});

test('signs in with an API key and out again, in all tabs', async () => {
  const opened = await console.open();
  const { page } = opened;
  await page.reload();
  const other = watchPage(await page.context().newPage(), console.services.service.url);
  await other.page.goto(consoleUrl('/workspace/keys'));
  await signedIn(other.page);
  await press(page.getByRole('button', { name: 'Sign out' }));
  await page.getByLabel('API key').waitFor();
  await other.page.getByText('You signed out in another tab.').waitFor();
  await expectAccessible(page);
  await page.reload();
  await expect.poll(() => page.getByLabel('API key').isVisible()).toBe(true);

  await signIn(page);
  await other.page.getByRole('heading', { name: 'API keys' }).waitFor();
  await endUnheard(page.context());
  await type(other.page.getByLabel('Name of the new key'), 'none');
  await press(other.page.getByRole('button', { name: 'Make a key' }));
  await other.page.getByText('Your session has ended. Sign in again.').waitFor();
  expectClean(opened);
  expectClean(other);
});

/** Ends the session without notifying any page, as another browser with the same cookie would. */
const endUnheard = (context: BrowserContext): Promise<void> => context.clearCookies();

test('accepts the printed link once, and offers the key to a second browser', async () => {
  const { signInLink } = console.services.service;
  const own = watchPage(await (await console.newContext()).newPage(), console.services.service.url);
  await own.page.goto(signInLink);
  await signedIn(own.page);
  await expect.poll(() => own.page.url()).toBe(consoleUrl());

  const stolen = watchPage(await (await console.newContext()).newPage(), console.services.service.url);
  const { page } = stolen;
  await page.goto(signInLink);
  await page.getByRole('status').getByText('This link was used already or has expired.').waitFor();
  await expect.poll(() => page.url()).toBe(consoleUrl());
  expect(await page.context().cookies()).toEqual([]);
  await expectAccessible(page);
  await signIn(page);
  await signedIn(page);
  // The link was of no use, and has ended nothing either.
  await own.page.reload();
  await signedIn(own.page);
  expectClean(own);
  expectClean(stolen);
});

test('slows down wrong keys, and says how long to wait', async () => {
  const page = await (await console.newContext()).newPage();
  await page.goto(consoleUrl());
  const refused = page.getByText('The API key is not valid.');
  for (let count = 1; count <= 4; count += 1) {
    const answer = page.waitForResponse((response) => response.url().endsWith('/v1/sessions'));
    await signIn(page, `lf_wrong_${count}`);
    expect((await answer).status()).toBe(401);
    await refused.waitFor();
  }
  for (const seconds of ['1 second', '2 seconds']) {
    // Both are shown for some moments only.
    const shown = Promise.all([
      page.getByText(`Try again in ${seconds}.`).waitFor(),
      page.getByRole('button', { name: /^Wait \d s$/, disabled: true }).waitFor(),
    ]);
    await signIn(page, 'lf_wrong');
    await shown;
    await page.getByText('You can try again now.').waitFor();
    // The button, which was disabled meanwhile, has the focus again.
    await page.locator('button:focus').waitFor();
  }
  await expectAccessible(page);
  await signIn(page);
  await signedIn(page);
});

test('says why a session ended after 12 hours, and comes back to the page', async () => {
  const opened = await console.open();
  const { page } = opened;
  await page.getByRole('heading', { name: 'Deploy your first agent' }).waitFor();
  const address = page.url();
  await changeDatabase(console, "update control.sessions set last_used_at = now() - interval '12 hours 1 second'");
  // The list reads again by itself.
  await page.getByText('after 12 hours without a request').waitFor();
  await signIn(page);
  await signedIn(page);
  await expect.poll(() => page.url()).toBe(address);
  await page.getByRole('heading', { name: 'Deploy your first agent' }).waitFor();
  expectClean(opened);
});

test('sends a change with the session of another tab, once, and never to another workspace', async () => {
  const { tenantId, url } = console.services.service;
  const { id: other } = await operate(z.object({ id: z.string() }), 'tenants', 'add', '<b>Research</b>');
  const both = ['--tenant', tenantId, '--tenant', other];
  const { key } = await operate(z.object({ key: z.string() }), 'keys', 'add', ...both, '--name', 'organisation');
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  for (const [tenant, name] of [
    [tenantId, 'ours'],
    [other, 'theirs'],
  ] as const) {
    const body = JSON.stringify({
      name,
      source: 'internal_source',
      source_config: {},
      source_revision_config: { graph_config_path: 'langgraph.json' },
      secrets: [],
    });
    const made = await fetch(`${url}/v2/deployments`, {
      method: 'POST',
      headers: { ...headers, 'x-tenant-id': tenant },
      body,
    });
    expect(made.status).toBe(201);
  }

  const opened = watchPage(await (await console.newContext()).newPage(), url);
  const { page } = opened;
  await page.goto(consoleUrl('/workspace/keys'));
  await signIn(page, key);
  const makeKey = async (name: string): Promise<void> => {
    await type(page.getByLabel('Name of the new key'), name);
    await press(page.getByRole('button', { name: 'Make a key' }));
  };
  await signInUnheard(console, page.context());
  await makeKey('made after another sign-in');
  await press(page.getByRole('button', { name: 'I have copied it' }));
  await expect.poll(() => page.getByRole('row', { name: 'made after another sign-in' }).count()).toBe(1);

  await signInUnheard(console, page.context(), { key, tenantId: other });
  await makeKey('not made');
  await page.getByText('This page shows the workspace <b>Research</b> now.').waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(await page.getByRole('row', { name: 'not made' }).count()).toBe(0);
  await page.getByRole('row', { name: 'organisation' }).waitFor();

  // Both tabs follow the choice of one.
  const second = watchPage(await page.context().newPage(), url);
  await second.page.goto(consoleUrl());
  await second.page.getByRole('link', { name: 'theirs', exact: true }).waitFor();
  await choose(page.getByRole('combobox', { name: 'Workspace' }), tenantId);
  await second.page.getByRole('link', { name: 'ours', exact: true }).waitFor();
  await expectAccessible(second.page);
  expect(await second.page.getByRole('link', { name: 'theirs', exact: true }).count()).toBe(0);
  for (const each of [opened, second]) {
    each.errors = each.errors.filter((text) => !text.includes('status of 403'));
    expectClean(each);
  }
});
