import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { StoredKey } from './repository.ts';

/** An API key in its two parts. */
export interface ApiKey {
  /** Its id for lookups: no secret. */
  id: string;
  /** The whole key, as it is sent: a secret. */
  text: string;
}

const spelling = 'lf_([0-9a-f]{16})_[A-Za-z0-9_-]{43}';
const spelled = new RegExp(`^${spelling}$`);
const within = new RegExp(spelling);

/** Creates a key with 256 random bits. */
export function makeApiKey(): ApiKey {
  const id = randomBytes(8).toString('hex');
  return { id, text: `lf_${id}_${randomBytes(32).toString('base64url')}` };
}

/** Parses a caller's key; undefined for an invalid form. */
export function readApiKey(text: string): ApiKey | undefined {
  const id = spelled.exec(text)?.[1];
  return id === undefined ? undefined : { id, text };
}

/** Whether a text contains something in the form of a key, valid or not. */
export const holdsApiKey = (text: string): boolean => within.test(text);

/** The stored hash of a key. With 256 random bits a plain hash can't be reversed. */
export const hashApiKey = (key: ApiKey): Buffer => createHash('sha256').update(key.text).digest();

/** Whether the key matches the stored hash, in constant time. */
export const isSameKey = (key: ApiKey, kept: Pick<StoredKey, 'hash'>): boolean =>
  timingSafeEqual(hashApiKey(key), kept.hash);

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
