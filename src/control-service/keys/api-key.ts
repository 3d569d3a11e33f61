import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { StoredKey } from '../store/keys.ts';

/** An API key as its owner sends it, in its two parts. */
export interface ApiKey {
  /** What it is looked up by: no secret. */
  id: string;
  /** The whole key, as it is sent: a secret. */
  text: string;
}

const spelling = 'lf_([0-9a-f]{16})_[A-Za-z0-9_-]{43}';
const spelled = new RegExp(`^${spelling}$`);
const within = new RegExp(spelling);

/** Makes a key with 256 random bits. */
export function makeApiKey(): ApiKey {
  const id = randomBytes(8).toString('hex');
  return { id, text: `lf_${id}_${randomBytes(32).toString('base64url')}` };
}

/** Reads what a caller sent as a key; undefined for what is not spelled like one. */
export function readApiKey(text: string): ApiKey | undefined {
  const id = spelled.exec(text)?.[1];
  return id === undefined ? undefined : { id, text };
}

/** Whether there is something in a text that is spelled like a key, good or not. */
export const holdsApiKey = (text: string): boolean => within.test(text);

/** What is kept of a key. It has 256 random bits, so that a plain hash cannot be turned back. */
export const hashApiKey = (key: ApiKey): Buffer => createHash('sha256').update(key.text).digest();

/** Whether the key is the one that was kept; takes the same time wherever they differ. */
export const isSameKey = (key: ApiKey, kept: Pick<StoredKey, 'hash'>): boolean =>
  timingSafeEqual(hashApiKey(key), kept.hash);
