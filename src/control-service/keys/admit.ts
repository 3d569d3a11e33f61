import * as z from 'zod';
import type { Admission } from '../gateway/gateway.ts';
import type { ControlStore } from '../store/store.ts';
import { hashApiKey, isSameKey, readApiKey } from './api-key.ts';
import type { StoredKey } from '../store/tenants.ts';

/** Reads one header of a request, whatever the case of its name. */
export type ReadHeader = (name: string) => string | undefined;

/** Who asks, or why nobody is let in (control-service.md, Authentication). */
export type Caller = { kind: 'tenant'; tenantId: string } | { kind: 'refused'; status: 401 | 403; detail: string };

/**
 * Finds the tenant of a request by its key: in `X-Api-Key`, or as the bearer token of `Authorization`. `X-Tenant-Id`,
 * where given, has to be the key's own tenant. Whatever cannot be read is refused.
 */
export async function admit(
  header: ReadHeader,
  findKey: (id: string) => Promise<StoredKey | undefined>,
): Promise<Caller> {
  const sent = header('x-api-key') ?? bearerToken(header('authorization'));
  if (sent === undefined) {
    return refused(401, 'No API key was sent. Send one in the header X-Api-Key, or as Authorization: Bearer <key>.');
  }
  const key = readApiKey(sent.trim());
  const kept = key && (await findKey(key.id));
  if (!key || !isSameKey(key, kept ?? { hash: hashApiKey({ id: '', text: '' }) }) || !kept) {
    return refused(401, 'The API key is not valid. Send a key of this service in the header X-Api-Key.');
  }
  const tenantId = header('x-tenant-id')?.trim();
  if (tenantId && tenantId.toLowerCase() !== kept.tenant_id) {
    return refused(403, 'X-Tenant-Id is not the tenant of this API key. Leave it out, or send a key of that tenant.');
  }
  return { kind: 'tenant', tenantId: kept.tenant_id };
}

/** Who may talk to an agent: whoever has a key of the tenant that owns it; other tenants' agents are not there. */
export const admitToAgent =
  (store: Pick<ControlStore, 'findKey' | 'deployment'>) =>
  async (deploymentId: string, header: ReadHeader): Promise<Admission> => {
    const caller = await admit(header, store.findKey);
    if (caller.kind === 'refused') return { status: caller.status, detail: caller.detail };
    if (!z.uuid().safeParse(deploymentId).success) return 'missing';
    const owner = (await store.deployment(deploymentId))?.tenant_id;
    return owner === caller.tenantId ? 'allowed' : 'missing';
  };

const bearerToken = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1];

const refused = (status: 401 | 403, detail: string): Caller => ({ kind: 'refused', status, detail });
