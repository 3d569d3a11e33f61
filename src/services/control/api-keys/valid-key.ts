import { hashApiKey, isSameKey, readApiKey } from './api-key.ts';
import type { StoredKey } from './repository.ts';

/** Finds the stored key that a text is; undefined where it is none, or one that was revoked. */
export async function findValidKey(
  text: string,
  { findKey }: { findKey: (id: string) => Promise<StoredKey | undefined> },
): Promise<StoredKey | undefined> {
  const key = readApiKey(text);
  const kept = key && (await findKey(key.id));
  // Always compares, so that the response time does not reveal known ids.
  const isSame = key && isSameKey(key, kept ?? { hash: hashApiKey({ id: '', text: '' }) });
  return isSame ? kept : undefined;
}
