import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeDatabase } from './change-database.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { choose, press, reach, type } from './keyboard.ts';

let fixture: ConsoleFixture;
beforeAll(async () => {
  fixture = await openConsoleFixture();
});
afterAll(async () => {
  // The fixture would remove the database of each.
  await changeDatabase(fixture, 'delete from control.deployments where id <> $1', [seedId]);
  await fixture.close();
});

let seedId = '';
const hostile = '<img src=x onerror=alert(1)>';
const reversed = '\u202egnitsoh\u0007';

/** Copies a deployment, which has never run, into the database. */
async function addCopies(names: readonly string[]): Promise<void> {
  await changeDatabase(
    fixture,
    `insert into control.deployments (id, tenant_id, name, source, source_config, source_revision_config, secrets,
       database_state, database_name, database_password, status, created_at, updated_at)
     select gen_random_uuid(), tenant_id, copies.name, source, source_config, source_revision_config, secrets,
       database_state, 'copy_' || copies.number, database_password, status, created_at, updated_at
     from control.deployments seed, unnest($2::text[]) with ordinality as copies (name, number)
     where seed.id = $1`,
    [seedId, names],
  );
}

test('leads a newcomer to the page of a new deployment', async () => {
  const opened = await fixture.open();
  const { page } = opened;
  await page.getByRole('heading', { name: 'Deploy your first agent' }).waitFor();
  await expectAccessible(page);
  await press(page.getByRole('link', { name: 'Deploy an agent' }));
  await page.getByRole('heading', { name: 'New deployment' }).waitFor();
  await expect.poll(() => page.title()).toBe('New deployment · Landfall');
  expectClean(opened);
});

test('shows what is deployed, and recovers when the service is back', async () => {
  const deployed = await fixture.deploy('echo-agent', { name: 'echo' });
  seedId = deployed.id;
  const opened = await fixture.open();
  const { page } = opened;
  const row = page.getByRole('row', { name: /^echo / });
  await row.getByText('Live', { exact: true }).waitFor();
  await row.getByText('Created by key “installation”').waitFor();
  await row.getByText('Link the packages').waitFor();
  await row.getByText('Not tested').waitFor();
  await row.getByText(/^\d+ requests?$/).waitFor();
  await row.getByText(/^\d+ runs?$/).waitFor();
  const address = `${fixture.services.service.url}/agents/${deployed.id}`;
  await expect.poll(() => row.getByText(address).textContent()).toBe(address);
  await row.getByRole('button', { name: 'Copy the address of echo' }).waitFor();
  await expectAccessible(page);

  await fixture.services.kill();
  await page.getByRole('alert').getByText('The service could not be reached.').waitFor();
  await row.waitFor();
  await fixture.services.startAgain();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await press(row.getByRole('link'));
  await page.waitForURL(`**/console/deployments/${deployed.id}`);
});

test('lists, searches, sorts and scrolls 1,000 deployments', async () => {
  await addCopies([hostile, reversed, ...Array.from({ length: 997 }, (_, index) => `fleet-${1_000 + index}`)]);
  const opened = await fixture.open();
  const { page } = opened;
  const status = page.getByRole('status').filter({ hasText: ' of ' });
  await status.getByText('1,000 of 1,000').waitFor();
  const rows = page.locator('tbody tr[aria-rowindex]');
  await expect.poll(() => rows.count()).toBeLessThan(80);
  await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe('1001');
  await page.getByRole('link', { name: hostile }).waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  await expectAccessible(page);

  await press(page.getByRole('button', { name: 'Deployment' }));
  await expect.poll(() => rows.first().textContent()).toContain('gnitsoh');
  await expect
    .poll(() => page.getByRole('columnheader', { name: 'Deployment' }).getAttribute('aria-sort'))
    .toBe('descending');
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  await page.locator('tr[aria-rowindex="1001"]').waitFor();

  const search = page.getByRole('searchbox', { name: 'Search' });
  await type(search, 'fleet-17');
  await status.getByText('100 of 1,000').waitFor();
  await choose(page.getByLabel('State'), 'Not deployed (999)');
  await page.reload();
  await status.getByText('100 of 1,000').waitFor();
  await expect.poll(() => search.inputValue()).toBe('fleet-17');
  expect(new URL(page.url()).search).toBe('?q=fleet-17&state=not-deployed&sort=-name');
  await reach(page.getByRole('link', { name: 'fleet-1799' }));
  const focused = page.locator('tr:has(:focus)');
  for (let count = 0; count < 60; count += 1) {
    // The next row is there once the page has drawn it.
    await page.locator('tr:has(:focus) + tr').waitFor({ state: 'attached' });
    await page.keyboard.press('Tab');
  }
  expect(Number(await focused.getAttribute('aria-rowindex'))).toBeGreaterThan(20);
  await type(search, 'no such name');
  await press(page.getByRole('button', { name: 'Show all' }));
  await status.getByText('1,000 of 1,000').waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  expectClean(opened);
});
