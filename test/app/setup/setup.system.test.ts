import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { webhookPaths } from '../../../app/server/webhook-route.ts';
import { manifestOf, permissions, webOf } from '../../../app/setup/manifest.ts';
import { setupApp } from '../../../app/setup/setup-app.ts';
import { readSettings } from '../../../app/settings/read-settings.ts';

const { privateKey: pem } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const secret = 'canary-of-the-webhook-secret';
const main = join(import.meta.dirname, '../../../app/setup/main.ts');
const answer = {
  id: 12,
  slug: 'our-app',
  name: 'Our App',
  html_url: 'https://github.com/apps/our-app',
  pem,
  webhook_secret: secret,
};

let folder: string;
let envFile: string;
let made: unknown[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'landfall-setup-'));
  envFile = join(folder, '.env');
  made = [];
  nock.disableNetConnect();
});
afterEach(async () => {
  nock.cleanAll();
  nock.enableNetConnect();
  await rm(folder, { recursive: true });
});

const page = (more: { apiUrl?: string; organisation?: string } = {}) =>
  setupApp({
    origin: () => 'http://127.0.0.1:3001',
    publicUrl: 'https://app.acme.test',
    apiUrl: 'https://api.github.com',
    name: 'landfall',
    envFile,
    done: (app) => void made.push(app.id),
    ...more,
  });

/** What the form on the page would send, and where. */
async function formOf(app: ReturnType<typeof page>): Promise<{ action: URL; manifest: unknown }> {
  const response = await app.request('/');
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  const html = (await response.text()).replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
  const [, action = ''] = /<form action="([^"]*)" method="post">/.exec(html) ?? [];
  const [, manifest = ''] = /name="manifest" value="(\{.*\})">/.exec(html) ?? [];
  return { action: new URL(action), manifest: JSON.parse(manifest) };
}

describe('the manifest', () => {
  test('requests only the permissions that the App needs, and the events that it handles', () => {
    const manifest = manifestOf('landfall', 'https://app.acme.test', 'http://127.0.0.1:3001/created');
    expect(manifest.default_permissions).toEqual({
      metadata: 'read',
      contents: 'read',
      pull_requests: 'write',
      issues: 'read',
      merge_queues: 'read',
      checks: 'write',
      statuses: 'read',
      deployments: 'write',
      actions: 'read',
    });
    expect(Object.keys(permissions)).toHaveLength(9);
    expect(manifest.public).toBe(false);
    expect(manifest.hook_attributes.url).toBe('https://app.acme.test/api/github/webhooks');
  });

  test('names the path where the App takes webhooks', () => {
    const { hook_attributes: hook } = manifestOf('a', 'https://app.acme.test', 'http://127.0.0.1/created');
    expect(webhookPaths).toContain(new URL(hook.url).pathname);
  });

  test.each([
    ['https://api.github.com', 'https://github.com'],
    ['https://ghe.acme.test/api/v3', 'https://ghe.acme.test'],
    ['https://api.acme.ghe.com', 'https://acme.ghe.com'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
  ])('of the GitHub with the API %s is sent to %s', (api, web) => {
    expect(webOf(api)).toBe(web);
  });
});

describe('the page', () => {
  test('hands the manifest to GitHub, and writes settings that the App starts with', async () => {
    const app = page();
    const { action, manifest } = await formOf(app);
    expect(`${action.origin}${action.pathname}`).toBe('https://github.com/settings/apps/new');
    expect(manifest).toMatchObject({ redirect_url: 'http://127.0.0.1:3001/created' });
    nock('https://api.github.com').post('/app-manifests/c0de/conversions').reply(201, answer);
    const response = await app.request(`/created?code=c0de&state=${action.searchParams.get('state')}`);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(html).toContain('https://github.com/apps/our-app/installations/new');
    expect(html).not.toContain(secret);
    expect(html).not.toContain('PRIVATE KEY');
    expect(made).toEqual([12]);
    expect((await stat(envFile)).mode & 0o777).toBe(0o600);
    const service = { LANDFALL_BASE_URL: 'https://control.acme.test', LANDFALL_API_KEY: 'a-key' };
    const read = readSettings({ ...parseEnv(await readFile(envFile, 'utf8')), ...service }, () => ({
      ok: false,
      why: '',
    }));
    expect(read).toMatchObject({ ok: true, settings: { github: { appId: 12, webhookSecrets: [secret] } } });
  });

  test("of an organisation goes to the organisation's settings", async () => {
    const { action } = await formOf(page({ organisation: 'acme corp' }));
    expect(action.pathname).toBe('/organizations/acme%20corp/settings/apps/new');
  });

  test.each([
    ['without a state', 'code=c0de', 403],
    ['with a state that is not ours', `code=c0de&state=${'0'.repeat(64)}`, 403],
  ])('does not use a code that comes %s', async (_, query, status) => {
    expect((await page().request(`/created?${query}`)).status).toBe(status);
    expect(made).toEqual([]);
  });

  test.each([
    ['no code', ''],
    ['a code with a path in it', '../../user'],
  ])('does not go on with %s', async (_, code) => {
    const app = page();
    const { action } = await formOf(app);
    const query = new URLSearchParams({ code, state: action.searchParams.get('state') ?? '' });
    expect((await app.request(`/created?${query.toString()}`)).status).toBe(400);
  });

  test.each([
    ['says no', 404, { message: 'Not Found' }, 'answered 404'],
    ['answers something else', 201, { id: 'x' }, 'read'],
    ['answers with a page', 201, '<html>hello</html>', 'read'],
  ])('says what happened when GitHub %s', async (_, status, body, words) => {
    const app = page();
    const { action } = await formOf(app);
    nock('https://api.github.com').post('/app-manifests/c0de/conversions').reply(status, body);
    const response = await app.request(`/created?code=c0de&state=${action.searchParams.get('state')}`);
    expect(response.status).toBe(502);
    expect(await response.text()).toContain(words);
    expect(made).toEqual([]);
  });

  test('writes over nothing', async () => {
    await writeFile(envFile, 'APP_ID=1\n');
    const app = page();
    const { action } = await formOf(app);
    nock('https://api.github.com').post('/app-manifests/c0de/conversions').reply(201, answer);
    expect((await app.request(`/created?code=c0de&state=${action.searchParams.get('state')}`)).status).toBe(409);
    expect(await readFile(envFile, 'utf8')).toBe('APP_ID=1\n');
  });
});

describe('npm run setup', () => {
  const setup = (...args: string[]) =>
    spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: 'utf8', timeout: 120_000 });

  test('without an address says so, and what it takes', () => {
    const { status, stderr } = setup();
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('--public-url is missing.') });
    expect(stderr).toContain('npm run setup -- --public-url');
  });

  test('beside settings that are there does nothing', async () => {
    await writeFile(envFile, 'APP_ID=1\n');
    const { status, stderr } = setup('--public-url', 'https://app.acme.test');
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('is there already') });
  });

  test('on a port that is taken names the option', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { status, stderr } = setup('--public-url', 'https://app.acme.test', '--port', String(port));
    other.close();
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `Port ${port} is taken. Give another one with --port.\n`,
    });
  });
});
