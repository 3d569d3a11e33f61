import { Hono } from 'hono';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Env } from '../../../../src/services/control/api/operation.ts';
import { mountGuide } from '../../../../src/services/control/guide/serve.ts';

const app = new Hono<Env>();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'landfall-guide-'));
  mountGuide(app, join(folder, 'guide'));
});
afterAll(() => rm(folder, { recursive: true }));

test('says how to build a guide that is not there, and serves it once it is', async () => {
  const missing = await app.request('/docs/guide/');
  expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('npm run docs')]);

  await mkdir(join(folder, 'guide/design'), { recursive: true });
  await writeFile(join(folder, 'guide/index.html'), 'home');
  await writeFile(join(folder, 'guide/design/index.html'), 'notes');
  await writeFile(join(folder, 'secret.txt'), 'secret');
  for (const [path, text] of [
    ['', 'home'],
    ['index.html', 'home'],
    ['design/', 'notes'],
  ]) {
    const page = await app.request(`/docs/guide/${path}`);
    expect([page.status, await page.text()]).toEqual([200, text]);
  }
});

test.each(['absent.html', '..%2Fsecret.txt', '%2e%2e/secret.txt', 'design'])('has no page %s', async (path) => {
  expect((await app.request(`/docs/guide/${path}`)).status).toBe(404);
});

test('serves a file that is built anew, and each part of it as often as it is asked', async () => {
  const text = async (): Promise<string> => (await app.request('/docs/guide/design/')).text();
  expect([await text(), await text()]).toEqual(['notes', 'notes']);
  await writeFile(join(folder, 'guide/design/index.html'), 'newer notes');
  expect(await text()).toBe('newer notes');
});

test('redirects to the folder, under any base path', async () => {
  const redirect = await app.request('/docs/guide');
  expect([redirect.status, redirect.headers.get('location')]).toEqual([302, 'guide/']);
});

test('compresses pages, runs its own scripts only, and cannot be framed', async () => {
  const page = await app.request('/docs/guide/', { headers: { 'accept-encoding': 'gzip' } });
  expect(page.headers.get('content-encoding')).toBe('gzip');
  expect(gunzipSync(await page.arrayBuffer()).toString()).toBe('home');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
});
