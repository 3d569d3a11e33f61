import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A webhook token for one run, of 32 random bytes; only its hash is stored. */
export function makeToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashOf(token) };
}

/** The SHA-256 of a token, in hexadecimal digits. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Whether a token matches this hash, compared in constant time. */
export function isTokenOf(token: string, hash: string): boolean {
  const [one, other] = [Buffer.from(hashOf(token)), Buffer.from(hash)];
  return one.length === other.length && timingSafeEqual(one, other);
}
