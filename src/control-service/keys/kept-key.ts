import { randomUUID } from 'node:crypto';
import { chmod, link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlStore } from '../store/store.ts';
import { hashApiKey, isSameKey, makeApiKey, readApiKey } from './api-key.ts';
import type { ApiKey } from './api-key.ts';

/** A key that is told at every start, and whose tenant. */
export interface KeptKey {
  apiKey: string;
  tenantId: string;
}

/**
 * The key of this installation: made at the first start and kept in `<dataDir>/api-key`, which only its owner can
 * read, so that later starts tell the same one. The tenant is made beside it where there is none.
 *
 * @throws Error where the file holds something else than a key, or a key that was revoked or whose hash is another.
 */
export async function keepKey(store: ControlStore, dataDir: string): Promise<KeptKey> {
  const file = join(dataDir, 'api-key');
  const key = await readOrMake(file);
  const kept = await store.findKey(key.id);
  if (kept) {
    if (!isSameKey(key, kept)) throw new Error(`${file} holds a key whose hash is another. ${newKeyAdvice}`);
    return { apiKey: key.text, tenantId: kept.tenant_id };
  }
  const tenantId = (await store.firstTenant()) ?? (await store.addTenant('local'));
  const added = await store.addKey({ id: key.id, tenant_id: tenantId, hash: hashApiKey(key) });
  if (!added) throw new Error(`${file} holds a key that was revoked. ${newKeyAdvice}`);
  return { apiKey: key.text, tenantId };
}

const newKeyAdvice = 'Remove the file to have a new key made.';

async function readOrMake(file: string): Promise<ApiKey> {
  const made = makeApiKey();
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${made.text}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // A link, unlike a rename, leaves a file alone that is there already, and shows the new one only when it is whole.
    await link(draft, file);
    return made;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    await rm(draft);
  }
  await chmod(file, 0o600);
  const key = readApiKey((await readFile(file, 'utf8')).trim());
  if (!key) throw new Error(`${file} holds no API key. ${newKeyAdvice}`);
  return key;
}
