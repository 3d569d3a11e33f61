import { backgroundHeader, csrfTokenHeader } from '../../../contract/control/session.ts';
import type { StoredKey } from '../api-keys/repository.ts';
import { type SessionCookie, hashToken, isCsrfTokenOf } from './cookie.ts';
import { classifySource } from './own-origin.ts';
import type { SessionStore, StoredSession } from './repository.ts';

/** Reads one header of a request, ignoring case. */
export type ReadHeader = (name: string) => string | undefined;

/** A request that may have a session. */
export interface SessionRequest {
  header: ReadHeader;
  method: string;
  /** Whether it only reads, on a path whose responses no foreign page can read: then it needs no CSRF token. */
  isSafe: boolean;
}

/** The session of a request, with its token: a secret. */
export interface CurrentSession extends StoredSession {
  token: string;
  key_name: string;
  /** When its key expires; null where that key does not. */
  key_expires_at: Date | null;
}

export type AdmittedSession =
  { kind: 'session'; session: CurrentSession; key: StoredKey } | { kind: 'refused'; status: 401 | 403; detail: string };

/** Admits a request by the session in its cookie; undefined where it has no such cookie. */
export type AdmitSession = (request: SessionRequest) => Promise<AdmittedSession | undefined>;

interface AdmissionDependencies {
  store: Pick<SessionStore, 'findSession' | 'noteSessionUse'> & {
    findKey: (id: string) => Promise<StoredKey | undefined>;
  };
  cookie: Pick<SessionCookie, 'tokensIn'>;
  publicUrl: string | undefined;
}

/**
 * Creates the session check. Browsers add the cookie to requests of all pages of the site, so the cookie counts only if a
 * page of the service sent the request, as shown by `Origin` and by the CSRF token, which no other page can read.
 */
export function sessionAdmission({ store, cookie, publicUrl }: AdmissionDependencies): AdmitSession {
  return async ({ header, method, isSafe }) => {
    const tokens = cookie.tokensIn(header('cookie'));
    if (tokens.length === 0) return undefined;
    const source = classifySource({ origin: header('origin'), host: header('host') }, publicUrl);
    if (source === 'foreign-host' || source === 'foreign-origin') return refused(403, sourceProblems[source]);
    const hasOrigin = method === 'GET' || method === 'HEAD' || source === 'own';
    if (!hasOrigin) return refused(403, noOriginMessage);
    const csrfToken = header(csrfTokenHeader) ?? '';
    if (!isSafe && csrfToken === '') return refused(403, noCsrfTokenMessage);
    const session = await store.findSession(tokens.map(hashToken));
    const token = tokens.find((one) => session?.hash.equals(hashToken(one)));
    const key = session && (await store.findKey(session.key_id));
    if (!session || token === undefined || !key) return refused(401, endedMessage);
    if (!isSafe && !isCsrfTokenOf(token, csrfToken)) return refused(403, wrongCsrfTokenMessage);
    // An idle page must not keep its session alive by polling.
    const isInBackground = (header(backgroundHeader) ?? '') !== '';
    const lastUsed = isInBackground ? session.last_used_at : await store.noteSessionUse(session);
    const ofKey = { key_name: key.name, key_expires_at: key.expires_at };
    return { kind: 'session', session: { ...session, last_used_at: lastUsed, token, ...ofKey }, key };
  };
}

/** Why a request with a session, or a sign-in, is rejected. */
export const sourceProblems = {
  'foreign-host':
    'This service has sessions at its own address only. Open it at 127.0.0.1 or localhost, or start it with --public-url.',
  'foreign-origin':
    'The header Origin names another origin than this service. Open the console at the address of the service, or send an API key.',
} as const;

const noOriginMessage =
  'The header Origin is missing, which a session requires for this method. Use a browser that sends it, or send an API key.';
const noCsrfTokenMessage = `The header ${csrfTokenHeader} is missing, which a session requires here. Send the csrf_token of GET /v1/session, or an API key.`;
const wrongCsrfTokenMessage = `The header ${csrfTokenHeader} is not that of this session. Read csrf_token from GET /v1/session, and send the request again.`;
const endedMessage = 'The session has ended. Sign in again.';

const refused = (status: 401 | 403, detail: string): AdmittedSession => ({ kind: 'refused', status, detail });
