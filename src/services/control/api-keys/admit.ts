import * as z from 'zod';
import type { Admission } from '../gateway/gateway.ts';
import type { ControlStore } from '../store/store.ts';
import { agentAccessHeader, backgroundHeader, csrfTokenHeader } from '../../../contract/control/session.ts';
import type { AdmitSession, CurrentSession, ReadHeader } from '../sessions/admit-session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Actor } from '../store/audit.ts';
import { holdsApiKey, findValidKey } from './api-key.ts';
import { allowsScope, type ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';
import type { StoredKey } from './repository.ts';

/** The authenticated caller, or why the request is refused (docs/design/contract.md#authentication). */
export type Caller =
  | { kind: 'tenant'; tenantId: string; by: Actor; scopes: readonly ApiKeyScope[]; session?: CurrentSession }
  | { kind: 'refused'; status: 401 | 403; detail: string };

/** Finds keys, and records their use. */
export interface KeyBook {
  findKey: (id: string) => Promise<StoredKey | undefined>;
  noteKeyUse?: ((key: StoredKey) => Promise<void>) | undefined;
  /** Admits sessions of browsers; without it there are none. */
  admitSession?: AdmitSession | undefined;
}

/** How a request would use a session. */
export interface SessionUse {
  method: string;
  /** Whether a session needs no CSRF token for it. */
  isSafe: boolean;
}

/**
 * Finds the tenant of a request by its key: `X-Api-Key`, else the bearer token, else the session of its cookie.
 * `X-Tenant-Id` has to be a tenant of the key; a key that has several needs it. Unreadable headers are rejected.
 */
export async function admit(header: ReadHeader, book: KeyBook, use: SessionUse): Promise<Caller> {
  const apiKey = header('x-api-key')?.trim() ?? '';
  const bearer = bearerToken(header('authorization')) ?? '';
  // With a session a bearer token that is no key is for the agent.
  const isForAgent = (header(csrfTokenHeader) ?? '') !== '' && !holdsApiKey(bearer);
  if (apiKey === '' && (bearer === '' || isForAgent)) {
    const admitted = await book.admitSession?.({ header, ...use });
    if (admitted?.kind === 'refused') return admitted;
    if (admitted) return inTenant(admitted.key, header, book, admitted.session);
  }
  const sent = apiKey || bearer;
  if (!sent) {
    return refused(401, 'No API key was sent. Send one in the header X-Api-Key, or as Authorization: Bearer <key>.');
  }
  const key = await findValidKey(sent, book);
  if (!key)
    return refused(
      401,
      'The API key is not valid, or it has expired. Send a key of this service in the header X-Api-Key.',
    );
  return inTenant(key, header, book);
}

/** Admits a valid key, or a session of it, to the tenant of the request. */
async function inTenant(
  key: StoredKey,
  header: ReadHeader,
  { noteKeyUse }: KeyBook,
  session?: CurrentSession,
): Promise<Caller> {
  const wanted = header('x-tenant-id')?.trim().toLowerCase() ?? '';
  if (wanted !== '' && !key.tenant_ids.includes(wanted)) {
    return refused(403, 'X-Tenant-Id is no tenant of this API key. Leave it out, or send a key of that tenant.');
  }
  if (wanted === '' && !session && key.tenant_ids.length > 1) {
    return refused(
      403,
      'This API key is good for several tenants, so that the request requires workspace specification. Send the id of one of them in the header X-Tenant-Id.',
    );
  }
  await noteKeyUse?.(key);
  const by: Actor = { kind: 'key', keyId: key.id, keyName: key.name };
  const tenantId = wanted || (session?.tenant_id ?? key.tenant_id);
  return { kind: 'tenant', tenantId, by, scopes: key.scopes, ...(session ? { session } : {}) };
}

/**
 * Admits a caller to an agent by a key of the owning tenant; to others the agent does not exist. A page of the console
 * has a token for the agents' own origin; without one, its session needs its CSRF token for every request.
 */
export const admitToAgent =
  (
    store: Pick<ControlStore, 'findKey' | 'noteKeyUse' | 'tenantOf'>,
    sessions?: Pick<Sessions, 'admitToAgent' | 'agents'>,
  ) =>
  async (deploymentId: string, header: ReadHeader, method: string, at = Date.now()): Promise<Admission> => {
    const { findKey, noteKeyUse } = store;
    const token = header(agentAccessHeader) ?? '';
    if (sessions && token !== '') {
      const isInBackground = (header(backgroundHeader) ?? '') !== '';
      const key = await sessions.agents.admit(token, { deploymentId, at, isInBackground });
      const tenant = key && (await store.tenantOf(deploymentId));
      if (tenant === undefined || key?.tenant_ids.includes(tenant) !== true) return noAccess;
      return allowsScope(key.scopes, 'agent') ? 'session' : scopeRefusal('agent', key.scopes);
    }
    const caller = await admit(
      header,
      { findKey, noteKeyUse, admitSession: sessions?.admitToAgent },
      { method, isSafe: false },
    );
    if (caller.kind === 'refused') return { status: caller.status, detail: caller.detail };
    if (!z.uuid().safeParse(deploymentId).success) return 'missing';
    if ((await store.tenantOf(deploymentId)) !== caller.tenantId) return 'missing';
    if (!allowsScope(caller.scopes, 'agent')) return scopeRefusal('agent', caller.scopes);
    return caller.session ? 'session' : 'allowed';
  };

/** A 403: the key is valid, and may not do this. */
export const scopeRefusal = (needed: ApiKeyScope, scopes: readonly ApiKeyScope[]) => ({
  status: 403 as const,
  detail: `This request needs a key with the scope ${needed}, and the key has ${scopes.join(', ')}. Send a key with that scope.`,
});

/** A 403: the page reads its session again, and gets another token. */
const noAccess: Admission = {
  status: 403,
  detail:
    'The token for this agent is not valid, or its session has ended. Request another one from POST /v1/session/agents.',
};

/** The token of `Authorization: Bearer`. */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1];

const refused = (status: 401 | 403, detail: string): Caller => ({ kind: 'refused', status, detail });
