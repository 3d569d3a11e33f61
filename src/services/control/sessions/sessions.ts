import { type Clock, steadyNow } from '../../../kit/clock.ts';
import { sessionCreateRequest, type Session } from '../../../contract/control/session.ts';
import type { ReadHeader } from './admit-session.ts';
import { findValidKey } from '../api-keys/api-key.ts';
import { allowsScope } from '../../../contract/control/api-key-scopes.ts';
import { scopeRefusal } from '../api-keys/admit.ts';
import type { StoredKey } from '../api-keys/repository.ts';
import { Call } from '../service/call.ts';
import type { ControlStore } from '../store/store.ts';
import { createAgentAccess } from './agent-access.ts';
import { agentsUrlFor, agentsHaveOwnOrigin, type AgentsAddress } from '../gateway/agents-origin.ts';
import { sessionAdmission, sourceProblems, type AdmitSession, type CurrentSession } from './admit-session.ts';
import { createAttemptThrottle, callerAddress } from './attempts.ts';
import { sessionCookie, csrfTokenOf, hashToken, makeToken } from './cookie.ts';
import { classifySource } from './own-origin.ts';
import { sessionIdleMs, type SessionStore } from './repository.ts';

interface SessionDependencies extends AgentsAddress {
  store: SessionStore & Pick<ControlStore, 'findKey' | 'noteKeyUse'>;
  /** The key that one-time links use to sign in. */
  linkKeyId: string;
  /** The addresses of reverse proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies?: readonly string[] | undefined;
  /** The secret that signs the tokens for agents; without one, tokens are invalid after a restart. */
  secret?: Buffer | string | undefined;
  clock: Clock;
}

interface SignInRequest {
  body: unknown;
  header: ReadHeader;
  /** The address of the other end of the connection. */
  address: string;
}

type SignInResult =
  | { kind: 'session'; session: Session; setCookie: string }
  | { kind: 'refused'; status: 401 | 403; detail: string }
  | { kind: 'slowed'; detail: string; retryAfter: number };

/** Signs browsers in and out. */
export function createSessions(settings: SessionDependencies) {
  const {
    store,
    linkKeyId,
    publicUrl,
    agentsUrl,
    basePath = '',
    trustedProxies = [],
    secret = makeToken(),
    clock,
  } = settings;
  const cookie = sessionCookie({ publicUrl, basePath, serviceId: serviceIdOf(linkKeyId) });
  const attempts = createAttemptThrottle(clock);
  const links = createSignInLinks(clock);
  const admit = sessionAdmission({ store, cookie, publicUrl });
  const refuseSession: AdmitSession = async ({ header }) =>
    cookie.tokensIn(header('cookie')).length === 0
      ? undefined
      : { kind: 'refused', status: 403, detail: ownOriginMessage };

  async function toResponse(
    { key_id, key_name, key_expires_at, tenant_id, last_used_at, token }: CurrentSession,
    header: ReadHeader,
  ): Promise<Session> {
    const agents_url = agentsUrlFor(header('host'), { agentsUrl, publicUrl, basePath });
    const idleAt = last_used_at.getTime() + sessionIdleMs;
    const expiresAt = Math.min(idleAt, key_expires_at?.getTime() ?? Infinity);
    return {
      key_id,
      key_name,
      tenant_id,
      tenants: await store.tenantsOfKey(key_id),
      csrf_token: csrfTokenOf(token),
      expires_at: new Date(expiresAt).toISOString(),
      ...(agents_url === undefined ? {} : { agents_url }),
    };
  }

  async function startSession(key: StoredKey, header: ReadHeader): Promise<SignInResult | undefined> {
    const token = makeToken();
    const stored = await store.addSession({ hash: hashToken(token), key_id: key.id, tenant_id: key.tenant_id });
    if (!stored) return undefined;
    // Signing in ends the session that the browser had, even of another key.
    await store.endSessions(cookie.tokensIn(header('cookie')).map(hashToken));
    await store.noteKeyUse(key);
    const session = await toResponse({ ...stored, token, key_name: key.name, key_expires_at: key.expires_at }, header);
    return { kind: 'session', session, setCookie: cookie.set(token) };
  }

  return {
    admit,
    /** Admits sessions to agents, unless agents have an origin of their own: then it refuses them. */
    admitToAgent: agentsHaveOwnOrigin({ agentsUrl, publicUrl }) ? refuseSession : admit,
    /** The tokens with which pages reach agents at their own origin. */
    agents: createAgentAccess({ secret, store, clock }),
    /** `Set-Cookie` that removes the cookie of a session. */
    clearCookie: cookie.clear,

    /** POST /v1/sessions: always creates a new session, so that no cookie set by others is adopted (session fixation). */
    async signIn({ body, header, address }: SignInRequest): Promise<SignInResult> {
      const source = classifySource({ origin: header('origin'), host: header('host') }, publicUrl);
      if (source === 'foreign-host' || source === 'foreign-origin') {
        return { kind: 'refused', status: 403, detail: sourceProblems[source] };
      }
      const call = new Call('sign in', 'POST', '/v1/sessions');
      const request = call.body(sessionCreateRequest, body);
      const caller = callerAddress({ peer: address, forwardedFor: header('x-forwarded-for'), trustedProxies });
      const result = await attempts.attempt(caller, async () => {
        const key =
          'code' in request
            ? links.use(request.code)
              ? await store.findKey(linkKeyId)
              : undefined
            : await findValidKey(request.api_key.trim(), store);
        if (key && !allowsScope(key.scopes, 'read'))
          return { kind: 'refused' as const, ...scopeRefusal('read', key.scopes) };
        return key && startSession(key, header);
      });
      if (result.kind === 'right') return result.value;
      if (result.waitMs > 0) {
        const retryAfter = Math.ceil(result.waitMs / 1_000);
        const seconds = `${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}`;
        const detail = `This key or link is not valid either: too many wrong ones were sent from this address. Check it, and try again in ${seconds}.`;
        return { kind: 'slowed', detail, retryAfter };
      }
      return { kind: 'refused', status: 401, detail: 'code' in request ? expiredLinkMessage : invalidKeyMessage };
    },

    /** GET /v1/session */
    read: toResponse,

    /** PATCH /v1/session: chooses one of the key's tenants; undefined for any other. */
    async chooseTenant(session: CurrentSession, tenantId: string, header: ReadHeader): Promise<Session | undefined> {
      return (await store.chooseSessionTenant(session, tenantId))
        ? toResponse({ ...session, tenant_id: tenantId }, header)
        : undefined;
    },

    /** DELETE /v1/session */
    end: ({ hash }: CurrentSession): Promise<void> => store.endSessions([hash]),

    /** The code of a link that signs in once. */
    issueCode: (): string => links.issue(),
  };
}
export type Sessions = ReturnType<typeof createSessions>;

/** An id that distinguishes the services of one host. It is derived from a stored key, so that it survives restarts. */
const serviceIdOf = (linkKeyId: string): string => hashToken(linkKeyId).toString('hex').slice(0, 8);

const ownOriginMessage = 'A session reaches agents at their own address only. Reload the console, or send an API key.';
const invalidKeyMessage = 'The API key is not valid. Check that it is a key of this service and was not revoked.';
const expiredLinkMessage =
  'This link was used already or has expired. Start the service again for another link, or sign in with an API key.';

/** How long a link is valid (ms). */
const linkValidityMs = 12 * 3_600_000;

/** The most links that are valid at the same time; the oldest expires. */
const maxLinks = 100;

/** The codes of one-time links. They are in memory only, so a link expires when the service that printed it stops. */
function createSignInLinks(clock: Pick<Clock, 'now' | 'steadyNow'>) {
  const expiries = new Map<string, number>();
  const idOf = (code: string): string => hashToken(code).toString('hex');
  return {
    issue(): string {
      const code = makeToken();
      expiries.set(idOf(code), steadyNow(clock) + linkValidityMs);
      for (const [oldest] of expiries) if (expiries.size > maxLinks) expiries.delete(oldest);
      return code;
    },
    /** Uses up a code. @returns whether it was valid */
    use(code: string): boolean {
      const id = idOf(code);
      const expiry = expiries.get(id);
      expiries.delete(id);
      return expiry !== undefined && steadyNow(clock) < expiry;
    },
  };
}
