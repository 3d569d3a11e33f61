import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { hashApiKey, isSameKey, makeApiKey, readApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { ensureInstallationKey } from '../../../../src/services/control/api-keys/installation-key.ts';
import { openTestStore } from '../store/open-store.ts';
import type { TestStore } from '../store/open-store.ts';

let opened: TestStore;
let dataDir: string;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'landfall-key-'));
  return () => rm(dataDir, { recursive: true });
});

test('the first start creates a key, and later ones return it', async () => {
  const first = await ensureInstallationKey(opened.store, dataDir);
  expect(await ensureInstallationKey(opened.store, dataDir)).toEqual(first);
  expect(readApiKey(first.apiKey)).toBeDefined();
  expect(await readdir(dataDir)).toEqual(['api-key']);
});

test('makes the file readable only by its owner, even an existing one', async () => {
  await ensureInstallationKey(opened.store, dataDir);
  const file = join(dataDir, 'api-key');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await chmod(file, 0o644);
  await ensureInstallationKey(opened.store, dataDir);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('the database stores only a hash of the key', async () => {
  const { apiKey } = await ensureInstallationKey(opened.store, dataDir);
  const key = readApiKey(apiKey);
  const kept = await opened.store.findKey(key?.id ?? '');
  expect(JSON.stringify(kept)).not.toContain(apiKey.slice(-20));
  expect(key && kept && isSameKey(key, kept)).toBe(true);
});

test('adds the key of the file to a new database', async () => {
  const { apiKey } = await ensureInstallationKey(opened.store, dataDir);
  const other = await openTestStore();
  try {
    expect(await ensureInstallationKey(other.store, dataDir)).toMatchObject({ apiKey });
    expect(await other.store.findKey(readApiKey(apiKey)?.id ?? '')).toBeDefined();
  } finally {
    await other.close();
  }
});

test('replaces a lost file for the same tenant', async () => {
  const first = await ensureInstallationKey(opened.store, dataDir);
  await rm(join(dataDir, 'api-key'));
  const second = await ensureInstallationKey(opened.store, dataDir);
  expect(second.tenantId).toBe(first.tenantId);
  expect(second.apiKey).not.toBe(first.apiKey);
});

test('reports a file with other content or with a revoked key', async () => {
  const file = join(dataDir, 'api-key');
  await writeFile(file, 'letmein');
  await expect(ensureInstallationKey(opened.store, dataDir)).rejects.toThrow(`${file} holds no API key`);
  await rm(file);
  const { apiKey } = await ensureInstallationKey(opened.store, dataDir);
  await opened.store.revokeKey(readApiKey(apiKey)?.id ?? '');
  await expect(ensureInstallationKey(opened.store, dataDir)).rejects.toThrow('revoked');
  const forged = `${apiKey.slice(0, 20)}${makeApiKey().text.slice(20)}`;
  await rm(file);
  const kept = await ensureInstallationKey(opened.store, dataDir);
  await writeFile(file, `${kept.apiKey.slice(0, 20)}${forged.slice(20)}`);
  await expect(ensureInstallationKey(opened.store, dataDir)).rejects.toThrow('hash');
});

test('two keys are never the same', () => {
  const [one, two] = [makeApiKey(), makeApiKey()];
  expect(isSameKey(one, { hash: hashApiKey(one) })).toBe(true);
  expect(isSameKey(one, { hash: hashApiKey(two) })).toBe(false);
});
