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

/** Unused tokens that this process made, by purpose. No other process has them. */
interface UnusedTokens {
  keep(what: string, token: string): void;
  /** Hands a token out, once. */
  take(what: string): string | undefined;
}

/** More than are ever in use: older ones belong to runs that another process took over. */
const most = 1_000;

export function unusedTokens(): UnusedTokens {
  const tokens = new Map<string, string>();
  return {
    keep(what, token) {
      tokens.set(what, token);
      const [oldest] = tokens.keys();
      if (tokens.size > most && oldest !== undefined) tokens.delete(oldest);
    },
    take(what) {
      const token = tokens.get(what);
      tokens.delete(what);
      return token;
    },
  };
}
