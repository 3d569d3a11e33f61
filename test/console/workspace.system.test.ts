import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeDatabase } from './change-database.ts';
import { watchPage } from '../../src/demo/chromium.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { choose, press, type } from './keyboard.ts';

let fixture: ConsoleFixture;
beforeAll(async () => {
  fixture = await openConsoleFixture();
});
afterAll(() => fixture.close());

const request = (path: string, init: RequestInit = {}, key = fixture.services.service.apiKey): Promise<Response> =>
  fetch(`${fixture.services.service.url}/${path}`, {
    ...init,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
  });

test('has no page for an unknown part of the workspace', async () => {
  const opened = await fixture.open('workspace/x');
  await expect.poll(() => opened.page.getByRole('heading').allInnerTexts()).toContain('There is no such page');
  expectClean(opened);
});

test('makes a key that is shown once, and ends its sessions when it is revoked', async () => {
  const hostile = '<b onclick=alert(1)>ci</b>';
  const opened = await fixture.open('workspace/keys', { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = opened;
  await page.getByText('The key of this installation.').waitFor();
  await press(page.getByLabel('Name of the new key'));
  await page.getByText('Enter a name.').waitFor();
  await type(page.getByLabel('Name of the new key'), hostile);
  // Twice, as an impatient person would.
  await page.getByRole('button', { name: 'Make a key' }).dblclick();
  const dialog = page.getByRole('dialog', { name: 'Your new key' });
  const key = (await dialog.locator('code').textContent()) ?? '';
  await press(dialog.getByRole('button', { name: 'Copy the key' }));
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(key);
  await expectAccessible(page);
  await press(dialog.getByRole('button', { name: 'I have copied it' }));
  expect(await page.content()).not.toContain(key);
  await expect.poll(() => page.getByRole('row', { name: 'ci' }).count()).toBe(1);
  expect((await request('v2/deployments', {}, key)).status).toBe(200);

  const context = await fixture.newContext();
  const other = watchPage(await context.newPage(), fixture.services.service.url);
  await other.page.goto(`${fixture.services.service.url}/console/workspace/keys`);
  await type(other.page.getByLabel('API key'), key);
  await press(other.page.getByRole('button', { name: 'Sign in' }));
  await other.page.getByText('(this session)').waitFor();

  await press(page.getByRole('button', { name: `Revoke ${hostile}` }));
  const confirm = page.getByRole('dialog', { name: 'Revoke this key?' });
  await expectAccessible(page);
  await press(confirm.getByRole('button', { name: 'Revoke the key' }));
  await page.getByText(`The key ${hostile} is revoked.`).waitFor();
  await page.getByRole('row', { name: 'ci' }).waitFor({ state: 'detached' });
  // The focus, whose button went away with the row, stays in the table.
  await page.locator('table:focus, .table-frame:focus').waitFor();
  await expectAccessible(page);
  expect((await request('v2/deployments', {}, key)).status).toBe(401);
  await other.page.getByText('Your session has ended. Sign in again.').waitFor();
  expectClean(opened);
  expectClean(other);
});

test('shows the audit log with filters and older changes', async () => {
  await changeDatabase(
    fixture,
    `insert into control.audit (tenant_id, at, actor, key_id, key_name, operation, subject, fields)
     select tenant_id, at, actor, key_id, key_name, 'patch deployment',
       jsonb_build_object('deployment_id', gen_random_uuid(), 'deployment_name', '<i>agent</i> ' || number), fields
     from control.audit, generate_series(1, 120) number where operation = 'create api key'`,
  );
  const opened = await fixture.open('workspace/audit');
  const { page } = opened;
  await page.getByRole('link', { name: '<i>agent</i> 120' }).waitFor();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(50);
  await press(page.getByRole('button', { name: 'Load more' }));
  await expect.poll(() => page.locator('tbody tr').count()).toBe(100);
  await press(page.getByRole('button', { name: 'Load more' }));
  await page.getByRole('cell', { name: 'API key revoked', exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'detached' });
  await expectAccessible(page);
  await choose(page.getByLabel('Kind of change'), 'create api key');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  await page.reload();
  await page.getByRole('cell', { name: 'API key created', exact: true }).waitFor();
  await expect.poll(() => page.getByLabel('Kind of change').inputValue()).toBe('create api key');
  await choose(page.getByLabel('Kind of change'), 'delete listener');
  await page.getByRole('heading', { name: 'No changes' }).waitFor();
  expectClean(opened);
});

test('shows integrations with their repositories, and listeners with their last report', async () => {
  const opened = await fixture.open('workspace/integrations');
  const { page } = opened;
  await page.getByRole('heading', { name: 'No integrations' }).waitFor();
  const hostile = '<script>alert(1)</script>\u202e';
  await page.route('**/v1/integrations/github/install', (route) =>
    route.fulfill({ json: [{ id: 'one', name: hostile }] }),
  );
  await page.route('**/v1/integrations/github/one/repos', (route) =>
    route.fulfill({
      json: Array.from({ length: 300 }, (_, id) => ({
        id,
        name: `agent-${id}`,
        owner: hostile,
        url: 'https://x.test',
      })),
    }),
  );
  await page.reload();
  await page.getByText('300 of 300 repositories').waitFor();
  await type(page.getByRole('searchbox'), 'AGENT-299');
  await page.getByText('1 of 300 repositories').waitFor();
  await expectAccessible(page);

  await press(page.getByRole('link', { name: 'Listeners' }));
  await page.getByRole('heading', { name: 'No listeners' }).waitFor();
  const made = await request('v2/listeners', {
    method: 'POST',
    body: JSON.stringify({ compute_type: 'k8s', compute_id: '<b>', compute_config: { k8s_namespaces: ['agents'] } }),
  });
  expect(made.status).toBe(201);
  await page.reload();
  const row = page.getByRole('row', { name: /^<b>/ });
  await row.getByText('agents').waitFor();
  await row.getByText('None yet').waitFor();
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  expectClean(opened);
});

test('makes a key with fewer rights and an expiry', async () => {
  const opened = await fixture.open('workspace/keys');
  const { page } = opened;
  await type(page.getByLabel('Name of the new key'), 'reporter');
  await choose(page.getByLabel('What it may do'), 'Read, without secrets');
  await choose(page.getByLabel('Expires'), 'In 30 days');
  await press(page.getByRole('button', { name: 'Make a key' }));
  const dialog = page.getByRole('dialog', { name: 'Your new key' });
  const reader = (await dialog.locator('code').textContent()) ?? '';
  await press(dialog.getByRole('button', { name: 'I have copied it' }));
  await page.getByRole('row', { name: /reporter Read, without secrets .* in (29|30) days/ }).waitFor();
  expect((await request('v2/deployments', {}, reader)).status).toBe(200);
  expect((await request('v1/api-keys', {}, reader)).status).toBe(403);
  await expectAccessible(page);
  expectClean(opened);
});

test('makes a trust policy for a repository, and deletes it', async () => {
  const opened = await fixture.open('workspace/trust');
  const { page } = opened;
  await page.getByRole('heading', { name: 'No trust policies' }).waitFor();
  await type(page.getByLabel('Name of the new policy'), 'main of support');
  await type(page.getByLabel('Repository id'), '1296269');
  await press(page.getByRole('button', { name: 'Make a policy' }));
  await page.getByText('Enter the number of its owner.').waitFor();
  await expectAccessible(page);
  await type(page.getByLabel('Owner id'), '583231');
  await type(page.getByLabel('Branch or tag'), 'refs/heads/main');
  await press(page.getByRole('button', { name: 'Make a policy' }));
  const row = page.getByRole('row', { name: /^main of support .*ref: refs\/heads\/main.*Deploy and ask agents/s });
  await row.waitFor();
  expect(await (await request('v1/trust-policies')).json()).toMatchObject({
    resources: [{ claims: { repository_id: '1296269', ref: 'refs/heads/main' } }],
  });
  await expectAccessible(page);
  await press(page.getByRole('button', { name: 'Delete main of support' }));
  await press(page.getByRole('dialog').getByRole('button', { name: 'Delete the policy' }));
  await page.getByRole('heading', { name: 'No trust policies' }).waitFor();
  expectClean(opened);
});
