import { join } from 'node:path';
import type { ControlStore } from '../store/store.ts';
import { hashApiKey, isSameKey, makeApiKey, readApiKey, type ApiKey } from './api-key.ts';
import { ensureSecretFile, readSecretFile } from './secret-file.ts';

/** The key that every start prints, with its tenant. */
export interface InstallationKey {
  apiKey: string;
  tenantId: string;
}

/**
 * The key in `<dataDir>/api-key`, readable by its owner only: created, with a tenant, at the first start. @throws Error
 * where the file holds no key, or one that was revoked or does not match its hash.
 */
export async function ensureInstallationKey(store: ControlStore, dataDir: string): Promise<InstallationKey> {
  const file = join(dataDir, 'api-key');
  const key = await readOrMake(file);
  const kept = await store.findKey(key.id);
  if (kept) {
    if (!isSameKey(key, kept))
      throw new Error(`${file} holds a key that does not match its stored hash. ${newKeyAdvice}`);
    await store.markKept(key.id, keptKeyName);
    return { apiKey: key.text, tenantId: kept.tenant_id };
  }
  const tenantId = (await store.firstTenant()) ?? (await store.addTenant('local'));
  const added = await store.addKey({
    id: key.id,
    tenant_id: tenantId,
    hash: hashApiKey(key),
    name: keptKeyName,
    is_kept: true,
  });
  if (!added) throw new Error(`${file} holds a key that was revoked. ${newKeyAdvice}`);
  return { apiKey: key.text, tenantId };
}

const keptKeyName = 'installation';

const newKeyAdvice = 'Remove the file to have a new key made.';

async function readOrMake(file: string): Promise<ApiKey> {
  const key = readApiKey((await readSecretFile(file)) ?? (await ensureSecretFile(file, makeApiKey().text)));
  if (!key) throw new Error(`${file} holds no API key. ${newKeyAdvice}`);
  return key;
}
