import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { csrfTokenHeader } from '../../src/contract/control/session.ts';
import type { Repository } from '../../src/demo/repository.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { press, type } from './keyboard.ts';

let console: ConsoleFixture;
beforeAll(async () => {
  console = await openConsoleFixture();
});
afterAll(() => console.close());

const run = promisify(execFile);
const hostile = `<img src=x onerror="document.title='hacked'"> \u202Egpj`;
const author = `Eve " onload="document.title='hacked' \u202E`;
const secretValue = 'secret-value-never-shown';

/** Makes a commit whose message and author are hostile. */
async function commitAs(repository: Repository, message: string): Promise<void> {
  const who = ['-c', `user.name=${author}`, '-c', 'user.email=eve@localhost', '-c', 'commit.gpgsign=false'];
  await run('git', [...who, '-C', repository.folder, 'commit', '--quiet', '--allow-empty', '--message', message]);
}

const entryOf = (page: Page, revisionId: string | null): Locator =>
  page.getByRole('listitem', { name: `Revision ${(revisionId ?? '').slice(0, 8)}` });

test('shows what caused each revision, rolls back, interrupts, and deletes', async () => {
  const { control, service } = console.services;
  const repository = await console.repository('echo-agent');
  const first = await console.deploy('echo-agent', { repository });
  const opened = await console.open(`deployments/${first.id}`);
  const { page } = opened;
  const live = page.getByRole('listitem').filter({ has: page.getByText('Live', { exact: true }) });
  await entryOf(page, first.latest_revision_id).getByText('First deploy', { exact: false }).first().waitFor();
  await page.getByRole('button', { name: /Copy the address/ }).waitFor();
  await expectAccessible(page);

  // Another revision, by a change of a commit and a secret over the API.
  await commitAs(repository, hostile);
  const second = await control.patchDeployment(first.id, {
    source_revision_config: { repo_ref: 'main' },
    secrets: [{ name: 'MODEL_KEY', value: secretValue }],
  });
  const entry = entryOf(page, second.latest_revision_id);
  await entry.getByText('Live', { exact: true }).waitFor({ timeout: 120_000 });
  await entry.getByText('secrets.MODEL_KEY').waitFor();
  await entry.getByText(/^<img src=x onerror="document.title='hacked'"> \uFFFDgpj$/).waitFor();
  await entry.getByText(/Eve " onload=/).waitFor();
  await entry
    .getByRole('list', { name: 'Times' })
    .getByText(/in all/)
    .waitFor();

  // The verdict of its smoke tests, with the evidence.
  const report = {
    kind: 'failed',
    reporter: 'cli',
    tests: [
      {
        name: `greets ${hostile}`,
        kind: 'failed',
        attempts: 2,
        expectations: [{ expected: 'output contains "hello"', seen: '<script>hacked</script>', held: false }],
        why: null,
        first_event_ms: 12,
        total_ms: 40,
      },
    ],
  };
  await page.evaluate(() => Object.assign(globalThis, { stillHere: true }));
  const reported = await fetch(
    `${service.url}/v2/deployments/${first.id}/revisions/${second.latest_revision_id}/verdicts`,
    {
      method: 'POST',
      headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(report),
    },
  );
  expect(reported.status).toBe(201);
  await entry.getByText('0 of 1 passed').waitFor();
  await entry.getByRole('cell', { name: '<script>hacked</script>' }).waitFor();
  await expectAccessible(page);
  await expect.poll(() => page.title()).toBe('Revisions · echo-agent · Landfall');

  // Back to the first one.
  const shortFirst = (first.latest_revision_id ?? '').slice(0, 8);
  await press(page.getByRole('button', { name: `Roll back to revision ${shortFirst}` }));
  const dialog = page.getByRole('dialog', { name: `Roll back to ${shortFirst}` });
  await dialog.getByText(/Creates a new revision from the build of/).waitFor();
  await expectAccessible(page);
  await press(dialog.getByRole('button', { name: 'Roll back' }));
  await live.getByText('Rollback to').waitFor({ timeout: 120_000 });
  await dialog.waitFor({ state: 'detached' });
  const third = await control.getDeployment(first.id);
  expect(third.active_revision_id).not.toBe(second.latest_revision_id);
  expect(third.secrets).toEqual([]);

  // A redeploy uses the build of the latest; a double click makes one revision.
  await press(page.getByRole('button', { name: 'Redeploy' }));
  await page.getByRole('dialog').getByRole('button', { name: 'Redeploy' }).dblclick();
  await live.getByText('Redeploy of').waitFor({ timeout: 120_000 });
  expect((await control.listRevisions(first.id, {})).resources).toHaveLength(4);

  // A build that does not end by itself is interrupted; the live one goes on.
  await commitAs(repository, 'Slow build');
  const serving = (await control.getDeployment(first.id)).active_revision_id;
  await control.patchDeployment(first.id, { source_config: { install_command: 'node link.mjs && sleep 600' } });
  const slow = await control.patchDeployment(first.id, { source_revision_config: { repo_ref: 'main' } });
  const shortSlow = (slow.latest_revision_id ?? '').slice(0, 8);
  await press(page.getByRole('button', { name: `Interrupt revision ${shortSlow}` }));
  await press(page.getByRole('dialog').getByRole('button', { name: 'Interrupt' }));
  await entryOf(page, slow.latest_revision_id).getByText('Interrupted').first().waitFor({ timeout: 120_000 });
  await entryOf(page, serving).getByText('Live', { exact: true }).waitFor();

  // Narrow, the page itself does not scroll to the side.
  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(await page.content()).not.toContain(secretValue);
  // No reload happened on the way.
  expect(await page.evaluate(() => Reflect.get(globalThis, 'stillHere'))).toBe(true);
  expectClean(opened);

  await press(page.getByRole('button', { name: 'Delete' }));
  const deletion = page.getByRole('dialog', { name: 'Delete the deployment' });
  const button = deletion.getByRole('button', { name: 'Delete' });
  await expect.poll(() => button.isDisabled()).toBe(true);
  await expectAccessible(page);
  await press(deletion.getByRole('checkbox', { name: /traces/ }));
  await type(deletion.getByLabel(/to confirm/), 'echo-agent');
  const request = page.waitForRequest((sent) => sent.method() === 'DELETE');
  await press(button);
  const sent = await request;
  expect(new URL(sent.url()).search).toBe('?delete_tracing_project=true');
  expect(sent.headers()).toMatchObject({
    [csrfTokenHeader]: expect.any(String),
    'idempotency-key': expect.any(String),
  });
  await page.getByRole('heading', { name: 'There is no such deployment' }).waitFor({ timeout: 120_000 });
  await press(page.getByRole('main').getByRole('link', { name: 'deployments' }));
  await expect.poll(() => page.url()).toBe(`${service.url}/console`);
});
