import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A token that one run may be told with, of 32 random bytes; kept is its hash alone. */
export function makeToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashOf(token) };
}

/** The SHA-256 of a token, in hexadecimal digits. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Whether a token is the one of this hash, in a time that does not tell how much of it is right. */
export function isTokenOf(token: string, hash: string): boolean {
  const [one, other] = [Buffer.from(hashOf(token)), Buffer.from(hash)];
  return one.length === other.length && timingSafeEqual(one, other);
}
