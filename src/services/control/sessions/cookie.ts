import { withoutTrailingSlashes } from '../../../kit/plain-text.ts';
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Creates the token of a session, or the code of a one-time link: 256 random bits. */
export const makeToken = (): string => randomBytes(32).toString('base64url');

const isToken = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** The stored hash of a token. With 256 random bits a plain hash can't be reversed. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The CSRF token of a session. It is derived from the session's token, so it need not be stored. */
export const csrfTokenOf = (token: string): string =>
  createHmac('sha256', token).update('csrf token').digest('base64url');

/** Whether a sent CSRF token is the session's, in constant time. */
export const isCsrfTokenOf = (token: string, sent: string): boolean =>
  timingSafeEqual(hashToken(csrfTokenOf(token)), hashToken(sent));

const plainName = 'landfall_session';
const hostName = `__Host-${plainName}`;

/** The most tokens of one request to look up. */
const maxTokens = 4;

interface CookieSettings {
  /** The service's public address; without one the service is below `basePath` of this machine. */
  publicUrl: string | undefined;
  basePath: string;
  serviceId: string;
}

/**
 * Creates the session cookie of a service. Its name has the service's id, because cookies do not distinguish ports. It
 * does not expire: the service ends sessions. Only this host can set a cookie with the prefix `__Host-`.
 */
export function sessionCookie({ publicUrl, basePath, serviceId }: CookieSettings) {
  const publicAddress = publicUrl === undefined ? undefined : new URL(publicUrl);
  const path = withoutTrailingSlashes(publicAddress?.pathname ?? basePath) || '/';
  const isSecure = publicAddress?.protocol === 'https:';
  const name = `${isSecure && path === '/' ? hostName : plainName}_${serviceId}`;
  const attributes = `Path=${path}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    /** `Set-Cookie` for a new session. */
    set: (token: string): string => `${name}=${token}; ${attributes}`,
    /** `Set-Cookie` that removes it. */
    clear: `${name}=; ${attributes}; Max-Age=0`,
    /** The distinct tokens in a `Cookie` header: agents or other paths of this host may have set cookies of the same name. */
    tokensIn: (header: string | undefined): string[] => {
      const values = pairsOf(header ?? '').flatMap((pair) => (pair.startsWith(`${name}=`) ? [valueOf(pair)] : []));
      return [...new Set(values.filter(isToken))].slice(0, maxTokens);
    },
  };
}
/** The cookie of sessions, as one service sets and reads it. */
export type SessionCookie = ReturnType<typeof sessionCookie>;

/** A `Cookie` header without the cookies of sessions; undefined where no other cookie remains. */
export function withoutSessionCookies(header: string): string | undefined {
  const others = pairsOf(header).filter((pair) => !isSessionName(nameOf(pair)));
  return others.length === 0 ? undefined : others.join('; ');
}

/** Whether a `Set-Cookie` may set or remove a session. Includes one without a name, which servers parse as a pair. */
export function affectsSession(setCookie: string): boolean {
  const [pair = ''] = setCookie.split(';');
  const name = nameOf(pair);
  return !pair.includes('=') || name === '' || isSessionName(name);
}

const pairsOf = (header: string): string[] =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '');
const nameOf = (pair: string): string => pair.split('=', 1)[0]?.trim() ?? '';
const valueOf = (pair: string): string => pair.slice(pair.indexOf('=') + 1).trim();
/** Whether a name is that of a session cookie, of this or another service of this host. */
const isSessionName = (name: string): boolean =>
  [plainName, hostName].some((own) => name.toLowerCase().startsWith(own.toLowerCase()));
