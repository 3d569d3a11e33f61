import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import type { Locator, Page } from 'playwright-core';
import { agentRequests, hostile, type AgentRequest } from './agent-data.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { choose, press, type } from './keyboard.ts';

let console: ConsoleFixture;
let request: AgentRequest;
let base: string;
/** Receives webhooks; refuses each of them at first. */
let receiver: Server;
let responds = 410;
beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(responds).end());
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  console = await openConsoleFixture();
  const repository = await console.repository('echo-agent');
  await repository.edit(
    'langgraph.json',
    /"allowed_domains": \[.*\]/,
    `"allowed_domains": ["127.0.0.1"], "allowed_ports": [${port()}]`,
  );
  await repository.commit('Allow webhooks to this machine');
  const { id } = await console.deploy('echo-agent', { repository });
  request = agentRequests(console, id);
  base = `deployments/${id}/`;
});
afterAll(async () => {
  receiver.close();
  await console.close();
});

function port(): number {
  const address = receiver.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const supporters = () => request('POST', 'assistants/search', { metadata: { team: 'support' } });
const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name });
const field = (page: Page, name: string): Locator => page.getByRole('dialog').getByLabel(name, { exact: true });

test('makes an assistant, compares its versions, activates one and deletes it', async () => {
  const opened = await console.open(`${base}assistants`);
  const { page } = opened;
  await page.getByRole('link', { name: 'echo', exact: true }).waitFor();

  await press(button(page, 'New assistant'));
  await type(field(page, 'Name'), hostile);
  await type(field(page, 'Context (JSON)'), '{ "greeting": ');
  await press(field(page, 'Name'));
  await page.getByText(/^This is not valid JSON/).waitFor();
  await expectAccessible(page);
  await type(field(page, 'Context (JSON)'), '{ "greeting": "good morning" }');
  await type(field(page, 'Metadata (JSON)'), '{ "team": "support" }');
  await press(field(page, 'Name'));
  await page.getByRole('heading', { name: '<img src=x' }).waitFor();

  await press(button(page, 'Change'));
  await type(field(page, 'Name'), 'evening');
  await type(field(page, 'Context (JSON)'), '{ "greeting": "good evening", "more": 1 }');
  await press(field(page, 'Name'));
  const versions = page.getByRole('table', { name: 'Versions' }).locator('tbody tr');
  await expect.poll(() => versions.count()).toBe(2);
  const context = page.getByRole('table', { name: 'Context' });
  await context.getByRole('row', { name: 'greeting different "good morning" "good evening"' }).waitFor();
  await context.getByRole('row', { name: 'more only in Version 2 1' }).waitFor();
  await page.getByRole('table', { name: /^Name/ }).getByText('<img src=x').waitFor();
  // The agent copies the context into the configuration: the former copy, which the form shows too, is not sent back.
  expect(await supporters()).toMatchObject([{ config: { configurable: { greeting: 'good evening', more: 1 } } }]);
  await expectAccessible(page);

  await press(button(page, 'Activate version 1'));
  await press(page.getByRole('dialog').getByRole('button', { name: 'Activate' }));
  await versions.nth(1).getByText('Active', { exact: true }).waitFor();
  expect(await supporters()).toMatchObject([{ name: hostile, context: { greeting: 'good morning' } }]);

  await press(button(page, 'Delete'));
  await press(button(page, 'Delete the assistant'));
  const search = page.getByRole('searchbox');
  await type(search, 'team=support');
  await press(search);
  await page.getByText('No assistant matches').waitFor();
  await press(page.getByRole('link', { name: 'Show all assistants' }));
  await press(page.getByRole('link', { name: 'echo', exact: true }));
  await page.getByText('can’t be deleted').waitFor();
  expectClean(opened);
});

test('shows the problem of a field that the agent refuses, beside it', async () => {
  const { page } = await console.open(`${base}assistants`);
  await press(button(page, 'New assistant'));
  await expect.poll(() => field(page, 'Graph').inputValue()).toBe('echo');
  await type(field(page, 'Name'), 'wrong');
  await type(field(page, 'Context (JSON)'), '{ "greeting": 5 }');
  await press(button(page, 'Make the assistant'));
  await expect.poll(() => field(page, 'Context (JSON)').getAttribute('aria-invalid')).toBe('true');
});

test('makes a cron, pauses, resumes and deletes it', async () => {
  const opened = await console.open(`${base}crons`);
  const { page } = opened;
  await page.getByText('No crons yet').waitFor();
  await press(button(page, 'New cron'));
  await type(field(page, 'Schedule'), '61 * * * *');
  await page.getByText(/^It can’t be read|^It can't be read/).waitFor();
  await type(field(page, 'Schedule'), '30 9 * * 1-5');
  await type(field(page, 'Time zone'), 'Europe/Berlin');
  await expect.poll(() => page.getByRole('dialog').getByRole('listitem').count()).toBe(5);
  const preview = await page.getByRole('dialog').getByRole('listitem').allInnerTexts();
  await expectAccessible(page);
  await type(field(page, 'Input (JSON)'), JSON.stringify({ input: hostile }));
  await button(page, 'Make the cron').dblclick();

  const cron = page.getByRole('region', { name: 'Cron 30 9 * * 1-5' });
  const next = cron.getByRole('list').first().getByRole('listitem');
  await expect.poll(() => next.count()).toBe(5);
  expect((await next.locator('.muted').allInnerTexts()).map((text) => text.trim())).toEqual(preview);
  await expect.poll(() => page.getByRole('region', { name: /^Cron/ }).count()).toBe(1);
  await cron.getByText('None so far.').waitFor();
  // A cron fires at whole minutes: its runs are made up here.
  const run = { thread_id: null, status: 'error', run_started_at: null, run_ended_at: null };
  const ids = { run_id: 'b6ed4e8a-5c0e-4c6e-a7a8-4a5b8f5c3d10', created_at: new Date().toISOString() };
  await page.route('**/runs/crons/*/runs?*', (route) =>
    route.fulfill({ json: [{ ...run, ...ids, error: { error: 'Oops', message: hostile } }] }),
  );
  await page.reload();
  await cron.getByText('Failed', { exact: true }).waitFor();
  await cron.getByText('Oops: <img src=x').waitFor();
  await expectAccessible(page);

  await press(button(page, 'Pause the cron 30 9 * * 1-5'));
  await cron.getByText('None while it is paused.').waitFor();
  const crons = z.array(z.looseObject({ enabled: z.boolean() }));
  expect(crons.parse(await request('POST', 'runs/crons/search', {}))).toMatchObject([{ enabled: false }]);
  await press(button(page, 'Resume the cron 30 9 * * 1-5'));
  await cron.getByText('Active', { exact: true }).waitFor();
  expect(crons.parse(await request('POST', 'runs/crons/search', {}))).toMatchObject([{ enabled: true }]);

  await press(button(page, 'Delete the cron 30 9 * * 1-5'));
  await press(page.getByRole('dialog').getByRole('button', { name: 'Delete the cron' }));
  await page.getByText('No crons yet').waitFor();
  expectClean(opened);
});

test('makes an item of the store, finds, changes and deletes it', async () => {
  await request('PUT', 'store/items', {
    namespace: ['users', hostile.replaceAll('.', '')],
    key: 'other',
    value: { cups: 1 },
  });
  const opened = await console.open(`${base}store`);
  const { page } = opened;
  const items = page.getByRole('list', { name: 'Items' }).locator('> li');
  await expect.poll(() => items.count()).toBe(1);
  await press(button(page, 'New item'));
  await press(button(page, 'Save the item'));
  await page.getByText('Enter at least one name.').waitFor();
  await type(field(page, 'Namespace'), 'users/ada');
  await type(field(page, 'Key'), 'likes');
  await type(field(page, 'Value (JSON)'), JSON.stringify({ cups: 3, note: hostile }));
  await press(button(page, 'Save the item'));
  await expect.poll(() => items.count()).toBe(2);

  const search = page.getByRole('searchbox');
  await type(search, 'cups=3');
  await press(search);
  await expect.poll(() => items.count()).toBe(1);
  await type(search, 'ONERROR');
  await press(search);
  await page.getByText(/no index for searches by meaning/).waitFor();
  await type(search, '');
  await press(search);
  await press(page.getByRole('navigation', { name: 'Namespaces' }).getByRole('button', { name: 'ada' }));
  await expect.poll(() => items.count()).toBe(1);
  await page.reload();
  await expect.poll(() => items.count()).toBe(1);
  await press(items.locator('summary').first());
  await items.getByText('<img src=x').waitFor();
  await expectAccessible(page);

  await press(button(page, 'Change likes'));
  await type(field(page, 'Value (JSON)'), '{ "cups": 4 }');
  await press(button(page, 'Save the item'));
  await items.getByText('4', { exact: true }).waitFor();
  expect(await request('GET', 'store/items?namespace=users.ada&key=likes')).toMatchObject({ value: { cups: 4 } });
  await press(button(page, 'Delete likes'));
  await press(button(page, 'Delete the item'));
  await page.getByText('No item matches').waitFor();
  expectClean(opened);
});

test('shows a refused webhook, and sends it again', async () => {
  const opened = await console.open(`${base}webhooks`);
  const { page } = opened;
  await page.getByText('No webhooks yet').waitFor();
  await expectAccessible(page);
  responds = 410;
  const webhook = `http://127.0.0.1:${port()}/hook?token=secret`;
  await request('POST', 'runs/wait', { assistant_id: 'echo', input: { input: 'Ada' }, webhook });
  const row = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
  await row.getByText('Failed', { exact: true }).waitFor();
  await row.getByText('Response 410').waitFor();
  await expect.poll(() => row.innerText()).toContain(`127.0.0.1:${port()}`);
  expect(await page.content()).not.toContain('token=secret');
  await choose(page.getByRole('combobox', { name: 'Status' }), 'Delivered');
  await page.getByText('No delivery has this status').waitFor();
  await press(page.getByRole('link', { name: 'Show all deliveries' }));
  await expectAccessible(page);

  responds = 204;
  await press(button(page, /^Send again/));
  await row.getByText('Delivered', { exact: true }).waitFor();
  await expect.poll(() => row.getByRole('cell').nth(2).innerText()).toBe('2');
  expectClean(opened);
});

test('says what to do while the agent does not respond, and recovers by itself', async () => {
  const { page, externalRequests } = await console.open(base);
  let isDown = true;
  await page.route('**/agents/*/webhooks/**', (route) =>
    isDown
      ? route.fulfill({ status: 503, json: { detail: 'No revision of this deployment is live.' } })
      : route.continue(),
  );
  await press(page.getByRole('link', { name: 'Webhooks' }));
  await page.getByText('No revision of this deployment is live.').waitFor();
  await page.getByRole('link', { name: 'Open the revisions' }).waitFor();
  await expectAccessible(page);
  isDown = false;
  await page.getByRole('table', { name: 'Deliveries' }).waitFor();
  expect(await page.getByRole('link', { name: 'Open the revisions' }).count()).toBe(0);
  expect(externalRequests).toEqual([]);
});
