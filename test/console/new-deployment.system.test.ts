import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { gzipTar } from '../../src/kit/archive/tar-bytes.ts';
import { listSource, usualLimits } from '../../src/kit/archive/walk.ts';
import { linkPackages, linkScript } from '../installed-packages.ts';
import { root } from '../journey/fixture.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { choose, press, type } from './keyboard.ts';

let fixture: ConsoleFixture;
let folder: string;
beforeAll(async () => {
  fixture = await openConsoleFixture();
  folder = join(fixture.services.folder, 'Echo Agent');
  await cp(join(root, 'examples/echo-agent'), folder, { recursive: true });
  await writeFile(join(folder, 'link.mjs'), linkScript);
  await writeFile(join(folder, '.env'), 'MODEL_KEY=not-to-be-uploaded');
  await mkdir(join(folder, 'node_modules'));
  await writeFile(join(folder, 'node_modules/large.js'), '');
});
afterAll(() => fixture.close());

/** Waits until the page of a revision is shown and the revision serves. */
async function expectDeployed(page: Page): Promise<string> {
  await page.waitForURL(/\/deployments\/[^/]+\/revisions\/[^/]+$/);
  const [, id = '', revisionId = ''] = /deployments\/([^/]+)\/revisions\/([^/]+)$/.exec(page.url()) ?? [];
  const statusOf = async (): Promise<string> => (await fixture.services.control.getRevision(id, revisionId)).status;
  await expect.poll(statusOf, { timeout: 120_000, interval: 200 }).toBe('DEPLOYED');
  return id;
}

test('deploys a chosen folder once, after a wrong field and a broken upload', async () => {
  const opened = await fixture.open('new');
  const { page } = opened;
  await press(page.getByRole('button', { name: 'Deploy' }));
  await page.getByText('Choose a folder or an archive first.').waitFor();
  await expectAccessible(page);

  await page.getByLabel('Choose a folder').setInputFiles(folder);
  await page.getByText(/^Echo Agent: \d+ files, /).waitFor();
  await press(page.getByText('2 left out'));
  await expect
    .poll(() => page.locator('.new-deployment-found li').allTextContents())
    .toEqual(['.env', 'node_modules/']);
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('echo-agent');
  await expect.poll(() => page.getByLabel('Graph configuration').inputValue()).toBe('langgraph.json');

  await type(page.getByLabel('Name', { exact: true }), 'Not a Name');
  await press(page.getByText('Advanced settings'));
  await type(page.getByLabel('Install command'), linkPackages);
  await press(page.getByRole('button', { name: 'Add a secret' }));
  await type(page.getByLabel('Name of secret 1'), 'GREETING');
  await type(page.getByLabel('Value of secret 1'), 'hello');
  await press(page.getByRole('button', { name: 'Deploy' }));
  const name = page.getByLabel('Name', { exact: true });
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true');
  const nameId = await name.getAttribute('id');
  await expect.poll(() => page.locator(':focus').getAttribute('id')).toBe(nameId);
  await expect.poll(() => page.getByLabel('Value of secret 1').inputValue()).toBe('hello');

  await page.route('**/uploads/**', (route) => route.abort(), { times: 1 });
  await type(name, 'echo-folder');
  // A problem was of the former value.
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('false');
  await press(page.getByRole('button', { name: 'Deploy' }));
  await page.getByText('The upload was interrupted.').waitFor();
  expect(new URL(page.url()).searchParams.has('deployment')).toBe(true);
  await press(page.getByRole('button', { name: 'Deploy' }));
  const id = await expectDeployed(page);
  const made = (await fixture.services.control.listDeployments({})).resources;
  expect(made.map((each) => [each.id, each.name])).toEqual([[id, 'echo-folder']]);
  expect((await fixture.services.revisions(id)).map(({ status }) => status)).toEqual(['DEPLOYED', 'SKIPPED']);
  opened.errors = opened.errors.filter((text) => !/ERR_FAILED|status of 4(?:00|22)/.test(text));
  expectClean(opened);
});

test('deploys a dropped archive to a deployment that lost its upload by a reload', async () => {
  const opened = await fixture.open('new');
  const { page } = opened;
  const { entries } = await listSource(folder, usualLimits);
  const archive = Buffer.concat(await Array.fromAsync(gzipTar(folder, entries)));
  const drop = async (name: string, bytes: Buffer): Promise<void> => {
    const transfer = await page.evaluateHandle(`(() => {
      const content = Uint8Array.from(atob('${bytes.toString('base64')}'), (char) => char.charCodeAt(0));
      const dropped = new DataTransfer();
      dropped.items.add(new File([content], '${name}'));
      return dropped;
    })()`);
    await page.dispatchEvent('h1', 'drop', { dataTransfer: transfer });
  };
  // A drop before the page is ready does nothing.
  const isRefused = async (): Promise<boolean> => {
    await drop('damaged.tar.gz', Buffer.from('no gzip'));
    return page.getByText('This is not a gzipped tar, or it is damaged.').isVisible();
  };
  await expect.poll(isRefused).toBe(true);
  await drop('Dropped.tar.gz', archive);
  await page.getByText(/^Dropped.tar.gz: \d+ files, /).waitFor();
  await press(page.getByText('Advanced settings'));
  await type(page.getByLabel('Install command'), linkPackages);
  await page.route('**/uploads/**', (route) => route.abort(), { times: 1 });
  await press(page.getByRole('button', { name: 'Deploy' }));
  await page.getByText('The upload was interrupted.').waitFor();

  await page.reload();
  await page.getByRole('heading', { name: 'Upload the first version of dropped' }).waitFor();
  await page.getByRole('link', { name: 'Cancel' }).waitFor();
  await expectAccessible(page);
  await drop('Dropped.tar.gz', archive);
  await page.getByText(/^Dropped.tar.gz: \d+ files, /).waitFor();
  await press(page.getByRole('button', { name: 'Deploy' }));
  const id = await expectDeployed(page);
  expect((await fixture.services.control.getDeployment(id)).name).toBe('dropped');
});

test('asks before an upload is left, and shows what is missing afterwards', async () => {
  const opened = await fixture.open('new');
  const { page } = opened;
  await page.getByLabel('Choose a folder').setInputFiles(folder);
  await type(page.getByLabel('Name', { exact: true }), 'left-early');
  const held = Promise.withResolvers<void>();
  await page.route('**/uploads/**', () => held.resolve());
  await press(page.getByRole('button', { name: 'Deploy' }));
  await held.promise;
  const leave = async (choice: string): Promise<void> => {
    await press(page.getByRole('link', { name: 'Deployments' }));
    const dialog = page.getByRole('dialog', { name: 'Leave before the upload has ended?' });
    await press(dialog.getByRole('button', { name: choice }));
    await dialog.waitFor({ state: 'detached' });
  };
  await leave('Cancel');
  await expect.poll(() => page.getByRole('button', { name: 'Deploying' }).isVisible()).toBe(true);
  await leave('Leave');
  await page.getByText('The upload was stopped. Open the deployment to upload again.').waitFor();
  await press(page.getByRole('link', { name: 'left-early' }));
  await page.getByText('This deployment has no source yet').waitFor();
  await page.getByText('Created, waiting for the first upload', { exact: false }).waitFor();
  await expectAccessible(page);
  await press(page.getByRole('link', { name: 'Upload a folder or an archive' }));
  await page.getByRole('heading', { name: 'Upload the first version of left-early' }).waitFor();
  expectClean(opened);
});

test('deploys a git folder whose address was entered', async () => {
  const repository = await fixture.repository('echo-agent', 'by-hand');
  const opened = await fixture.open('new');
  const { page } = opened;
  await press(page.getByRole('radio', { name: /^Repository/ }));
  await type(page.getByLabel('Name', { exact: true }), 'by-hand');
  await type(page.getByLabel('Repository address'), pathToFileURL(repository.folder).href);
  await press(page.getByLabel('Build on push'));
  await press(page.getByText('Advanced settings'));
  await type(page.getByLabel('Install command'), linkPackages);
  await press(page.getByRole('button', { name: 'Deploy' }));
  const id = await expectDeployed(page);
  const { source_config } = await fixture.services.control.getDeployment(id);
  expect(source_config).toMatchObject({ build_on_push: false, install_command: linkPackages });
  expectClean(opened);
});

test('chooses repositories and listeners from lists, with hostile names as text', async () => {
  const opened = await fixture.open('new');
  const { page } = opened;
  const hostile = '<img src=x onerror=alert(1)>\u202e';
  const integration = '7b8f7c5e-3f3e-4f5a-9a53-0f3f2b1c0d9e';
  await page.route('**/v1/integrations/github/install', (route) =>
    route.fulfill({ json: [{ id: integration, name: hostile }] }),
  );
  await page.route(`**/v1/integrations/github/${integration}/repos`, (route) =>
    route.fulfill({
      json: [{ id: 1, name: hostile, owner: 'acme', url: 'https://github.com/acme/agent', default_branch: 'trunk' }],
    }),
  );
  await page.route(`**/v1/integrations/github/${integration}/repos/**/branches`, (route) =>
    route.fulfill({ json: [{ name: hostile }] }),
  );
  await press(page.getByRole('radio', { name: /^Repository/ }));
  await choose(page.getByLabel('GitHub integration'), integration);
  await page.locator('datalist option[value="https://github.com/acme/agent"]').waitFor({ state: 'attached' });
  await type(page.getByLabel('Repository address'), 'https://github.com/acme/agent');
  await page.locator('datalist option[value="trunk"]').waitFor({ state: 'attached' });
  expect(await page.locator('main img').count()).toBe(0);

  const { url, apiKey } = fixture.services.service;
  await fetch(`${url}/v2/listeners`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ compute_type: 'k8s', compute_id: 'cluster-1', compute_config: {} }),
  });
  await press(page.getByRole('radio', { name: /^Image/ }));
  await choose(page.getByLabel('Listener'), 'cluster-1 (k8s)');
  await press(page.getByText('Advanced settings'));
  await type(page.getByLabel('Resources'), '{cpu: 1}');
  await press(page.getByRole('button', { name: 'Deploy' }));
  await page.getByText('This is not a JSON object.').waitFor();
  // What was entered for another kind of source is still there.
  await press(page.getByRole('radio', { name: /^Repository/ }));
  await expect.poll(() => page.getByLabel('Repository address').inputValue()).toBe('https://github.com/acme/agent');
  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  await expectAccessible(page);
  expectClean(opened);
});
