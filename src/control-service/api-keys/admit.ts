import * as z from 'zod';
import type { Admission } from '../gateway/gateway.ts';
import type { ControlStore } from '../store/store.ts';
import { hashApiKey, isSameKey, readApiKey } from './api-key.ts';
import type { Actor } from '../store/audit.ts';
import type { StoredKey } from './repository.ts';

/** Reads one header of a request, ignoring case. */
export type ReadHeader = (name: string) => string | undefined;

/** The authenticated caller, or why the request is refused (control-service.md, Authentication). */
export type Caller =
  { kind: 'tenant'; tenantId: string; by: Actor } | { kind: 'refused'; status: 401 | 403; detail: string };

/** Finds keys, and records their use. */
export interface KeyBook {
  findKey: (id: string) => Promise<StoredKey | undefined>;
  noteKeyUse?: ((key: StoredKey) => Promise<void>) | undefined;
}

/**
 * Finds the tenant of a request by its key: in `X-Api-Key`, or, where that is missing or empty, as the bearer token of
 * `Authorization`. `X-Tenant-Id`, where given, has to be a tenant of the key; a key that has several needs it. Whatever
 * cannot be read is refused.
 */
export async function admit(header: ReadHeader, { findKey, noteKeyUse }: KeyBook): Promise<Caller> {
  const sent = header('x-api-key')?.trim() || bearerToken(header('authorization'));
  if (!sent) {
    return refused(401, 'No API key was sent. Send one in the header X-Api-Key, or as Authorization: Bearer <key>.');
  }
  const key = readApiKey(sent);
  const kept = key && (await findKey(key.id));
  if (!key || !isSameKey(key, kept ?? { hash: hashApiKey({ id: '', text: '' }) }) || !kept) {
    return refused(401, 'The API key is not valid. Send a key of this service in the header X-Api-Key.');
  }
  const wanted = header('x-tenant-id')?.trim().toLowerCase() ?? '';
  if (wanted !== '' && !kept.tenant_ids.includes(wanted)) {
    return refused(403, 'X-Tenant-Id is no tenant of this API key. Leave it out, or send a key of that tenant.');
  }
  if (wanted === '' && kept.tenant_ids.length > 1) {
    return refused(
      403,
      'This API key is good for several tenants, so that the request requires workspace specification. Send the id of one of them in the header X-Tenant-Id.',
    );
  }
  await noteKeyUse?.(kept);
  const by: Actor = { kind: 'key', keyId: kept.id, keyName: kept.name };
  return { kind: 'tenant', tenantId: wanted === '' ? kept.tenant_id : wanted, by };
}

/** Admits a caller to an agent by a key of the owning tenant; to others the agent does not exist. */
export const admitToAgent =
  (store: Pick<ControlStore, 'findKey' | 'noteKeyUse' | 'tenantOf'>) =>
  async (deploymentId: string, header: ReadHeader): Promise<Admission> => {
    const caller = await admit(header, store);
    if (caller.kind === 'refused') return { status: caller.status, detail: caller.detail };
    if (!z.uuid().safeParse(deploymentId).success) return 'missing';
    return (await store.tenantOf(deploymentId)) === caller.tenantId ? 'allowed' : 'missing';
  };

const bearerToken = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1];

const refused = (status: 401 | 403, detail: string): Caller => ({ kind: 'refused', status, detail });
