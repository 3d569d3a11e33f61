import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { press, type } from './keyboard.ts';

let console: ConsoleFixture;
beforeAll(async () => {
  console = await openConsoleFixture();
});
afterAll(() => console.close());

const branch = `<img/src=x/onerror="document.title='hacked'">`;
const kept = 'kept-secret-value';
const removed = 'removed-secret-value';

test('changes settings with and without a revision, keeps secrets secret, and overwrites no change of others', async () => {
  const { control } = console.services;
  const repository = await console.repository('echo-agent');
  await promisify(execFile)('git', ['-C', repository.folder, 'branch', branch]);
  const { id } = await console.deploy('echo-agent', { repository });
  const withSecrets = await control.patchDeployment(id, {
    secrets: [
      { name: 'KEPT_KEY', value: kept },
      { name: 'REMOVED_KEY', value: removed },
    ],
  });
  const opened = await console.open(`deployments/${id}/settings`);
  const { page } = opened;
  const save = page.getByRole('region', { name: 'Save' });
  const saved = (): Promise<unknown> =>
    page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok());
  await save.getByText('Nothing is changed.').waitFor();
  await expectAccessible(page);

  // No revision: at once.
  await press(page.getByLabel('Build on push'));
  await save.getByText('Saving changes this at once, without a revision.').waitFor();
  const [request] = await Promise.all([
    page.waitForRequest((sent) => sent.method() === 'PATCH'),
    saved(),
    page.keyboard.press('Enter'),
  ]);
  expect(request.postDataJSON()).toEqual({ source_config: { build_on_push: true } });
  expect(request.headers()['if-match']).toBe(withSecrets.latest_revision_id);
  await save.getByText('Nothing is changed.').waitFor();
  await type(page.getByLabel('Build command'), 'sh "x"');
  await save.getByText(/takes effect with the next revision/).waitFor();
  await press(save.getByRole('button', { name: 'Save' }));
  await page.getByText('It must not contain a quote. Put that in a script.').waitFor();
  await save.getByText('Cannot be saved yet: Build command.').waitFor();
  await page.getByLabel('Build command').and(page.locator(':focus')).waitFor();
  await expectAccessible(page);
  await press(save.getByRole('button', { name: 'Discard the changes' }));
  expect((await control.getDeployment(id)).latest_revision_id).toBe(withSecrets.latest_revision_id);

  // A revision: another branch, a secret more and one less.
  await type(page.getByLabel('Branch or tag'), branch);
  await press(page.getByRole('button', { name: 'Remove REMOVED_KEY' }));
  await press(page.getByRole('button', { name: 'Add a secret' }));
  await type(page.getByLabel('Name of new secret 1'), 'NEW_KEY');
  await type(page.getByLabel('Value of new secret 1'), 'first line\nsecond line');
  await save.getByText(/^Saving creates a new revision/).waitFor();
  await expectAccessible(page);
  for (const value of [kept, removed]) expect(await page.content()).not.toContain(value);
  await Promise.all([saved(), press(save.getByRole('button', { name: 'Save and create a revision' }))]);
  await save.getByRole('link', { name: /^revision/ }).waitFor();
  expect(await save.getByText('Nothing is changed.').count()).toBe(0);
  const changed = await control.getDeployment(id);
  expect(changed.latest_revision_id).not.toBe(withSecrets.latest_revision_id);
  expect(changed.source_revision_config.repo_ref).toBe(branch);
  expect(changed.secrets).toEqual([
    { name: 'KEPT_KEY', value: kept },
    { name: 'NEW_KEY', value: 'first line\nsecond line' },
  ]);
  await page.getByText('NEW_KEY').waitFor();
  expect(await page.content()).not.toContain('second line');

  // Another tab is faster: nothing of it is overwritten, and nothing typed is lost.
  await press(page.getByRole('button', { name: 'Set a new value for KEPT_KEY' }));
  await type(page.getByLabel('New value of KEPT_KEY'), 'typed here');
  await control.patchDeployment(id, {
    secrets: (changed.secrets ?? []).map(({ name }) => ({ name, value: 'theirs' })),
  });
  await page.getByText(/has a newer revision than the one that this form was loaded with/).waitFor();
  await expectAccessible(page);
  await press(page.getByRole('button', { name: 'Load the newer settings' }));
  await expect.poll(() => page.getByLabel('New value of KEPT_KEY').inputValue()).toBe('typed here');
  await Promise.all([saved(), press(save.getByRole('button', { name: 'Save and create a revision' }))]);
  expect((await control.getDeployment(id)).secrets).toEqual([
    { name: 'KEPT_KEY', value: 'typed here' },
    { name: 'NEW_KEY', value: 'theirs' },
  ]);

  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  await expect.poll(() => page.title()).toBe('Settings · echo-agent · Landfall');
  expectClean(opened);

  // The page has not seen the change when it saves: the service refuses.
  await page.route('**/v2/deployments/*', (route) =>
    route.request().method() === 'GET' ? route.abort() : route.continue(),
  );
  await type(page.getByLabel('Build command'), 'echo built');
  await control.patchDeployment(id, { source_revision_config: { repo_ref: 'main' } });
  const refused = page.waitForResponse((response) => response.status() === 412);
  await press(save.getByRole('button', { name: 'Save' }));
  await refused;
  await page.unroute('**/v2/deployments/*');
  await press(page.getByRole('button', { name: 'Load the newer settings' }));
  await expect.poll(() => page.getByLabel('Build command').inputValue()).toBe('echo built');
  await expect.poll(() => page.getByLabel('Branch or tag').inputValue()).toBe('main');
});
