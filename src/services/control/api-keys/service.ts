import * as z from 'zod';
import {
  apiKeyCreateRequest,
  auditQuery,
  isLasting,
  newApiKey,
  type ApiKeyReply,
  type ApiKeysList,
  type AuditList,
  type NewApiKey,
} from '../../../contract/control/api-key.ts';
import type { WriteOptions } from '../../../contract/control/service.ts';
import { hashApiKey, makeApiKey } from './api-key.ts';
import { pageQuery } from '../../../contract/control/pages.ts';
import type { ListedKey } from './repository.ts';
import { Call, createIdempotentWrite } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { accepted, type ValidationResult } from '../validation/refusal.ts';
import { systemClock } from '../../../kit/clock.ts';

/** A tenant's own keys, and the record of what was changed for it: additions of ours. */
export function keyOperations(settings: ServiceDependencies) {
  const { store, tenantId, clock = systemClock } = settings;
  const once = createIdempotentWrite(settings);
  return {
    async listApiKeys(query: unknown): Promise<ApiKeysList> {
      const call = new Call('list api keys', 'GET', '/v1/api-keys');
      const { limit = 20, offset = 0 } = call.query(pageQuery, query);
      const keys = await store.listKeys(tenantId, { limit, offset });
      return { resources: keys.map(toKeyResponse), offset: offset + keys.length };
    },

    /** The key is returned only in this response: only its hash is stored. */
    async createApiKey(body: unknown, { idempotencyKey }: WriteOptions = {}): Promise<NewApiKey> {
      const call = new Call('create api key', 'POST', '/v1/api-keys');
      const request = call.body(apiKeyCreateRequest, body, { isStrict: true });
      const { name, scopes, expires_at } = request;
      const expiresAt = expires_at == null ? null : call.value(futureTime(expires_at, clock.now()));
      const keep = (answer: NewApiKey): NewApiKey => ({ ...answer, key: null });
      return once(call, { idempotencyKey, body: request, shape: storedResponse, keep }, async (within, record) => {
        const key = makeApiKey();
        await within.addKey({
          id: key.id,
          tenant_id: tenantId,
          hash: hashApiKey(key),
          name,
          scopes,
          expires_at: expiresAt,
        });
        await record({ api_key_id: key.id, api_key_name: name });
        const kept = (await within.listKeys(tenantId)).find(({ id }) => id === key.id);
        return { ...toKeyResponse(call.found('API key', key.id, kept)), key: key.text };
      });
    },

    /** DELETE /v1/api-keys/{id}: it opens nothing from then on. */
    async revokeApiKey(id: string, { idempotencyKey }: WriteOptions = {}): Promise<void> {
      const call = new Call('revoke api key', 'DELETE', `/v1/api-keys/${id}`);
      await once(call, { idempotencyKey, shape: z.null() }, async (within, record) => {
        const keys = await within.lockKeysOf(tenantId);
        const own = keys.find((one) => one.id === id);
        const key = call.value(mayRevoke(call.found('API key', id, own), keys));
        await within.revokeKey(id);
        await record({ api_key_id: id, api_key_name: key.name });
        return null;
      });
    },

    /** GET /v1/audit: who changed what, newest first. */
    async listAudit(query: unknown): Promise<AuditList> {
      const call = new Call('list audit', 'GET', '/v1/audit');
      const { limit = 20, ...requested } = call.query(auditQuery, query);
      const changes = await store.listChanges(tenantId, { limit, ...requested });
      return {
        resources: changes.map(({ at, ...change }) => ({ ...change, at: at.toISOString() })),
        next_before: changes.length < limit ? null : (changes.at(-1)?.id ?? null),
      };
    },
  };
}

function toKeyResponse({ tenant_ids, is_kept, ...key }: ListedKey): ApiKeyReply {
  return {
    ...key,
    created_at: key.created_at.toISOString(),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    expires_at: key.expires_at?.toISOString() ?? null,
    is_organisation_key: tenant_ids.length > 1,
    is_installation_key: is_kept,
  };
}

/** The response as it is stored for repeated requests; those of older versions have neither scopes nor an expiry. */
const storedResponse = newApiKey.extend({
  scopes: newApiKey.shape.scopes.default(['admin']),
  expires_at: newApiKey.shape.expires_at.default(null),
});

/**
 * Whether a tenant may revoke one of its keys. Not the key of the installation, which every start prints; not an
 * organisation's, which other tenants depend on; and not the last one, without which the tenant could create no other.
 */
function mayRevoke(key: ListedKey, keys: readonly ListedKey[]): ValidationResult<ListedKey> {
  if (key.is_kept) {
    return standing(
      `The key ${key.id} is the key of this installation: it is stored in the file api-key of the service's data folder, and every start prints it. Only the operator can revoke it, on that machine: landfall local keys revoke ${key.id}.`,
    );
  }
  if (key.tenant_ids.length > 1) {
    return standing(
      `The key ${key.id} is valid for other tenants too. Only the operator can revoke it, on the service's machine: landfall local keys revoke ${key.id}.`,
    );
  }
  if (isLasting(key) && !keys.some((one) => one.id !== key.id && isLasting(one))) {
    return standing(
      `The key ${key.id} is the last one of this tenant with the scope admin that does not expire: without it the tenant could create no other. Create the next one first (POST /v1/api-keys), or have the operator revoke it on the service's machine: landfall local keys revoke ${key.id}.`,
    );
  }
  return accepted(key);
}

/** When a new key expires. */
function futureTime(written: string, now: number): ValidationResult<Date> {
  const time = new Date(written);
  if (time.getTime() > now) return accepted(time);
  const problems = [{ loc: ['body', 'expires_at'], msg: 'must be in the future', type: 'value_error' }];
  return { ok: false, refusal: { status: 422, problems } };
}

const standing = (detail: string): ValidationResult<never> => ({ ok: false, refusal: { status: 409, detail } });
