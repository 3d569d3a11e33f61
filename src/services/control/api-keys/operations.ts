import {
  apiKeyCreateRequest,
  apiKeysList,
  newApiKey,
  auditList,
  auditQuery,
} from '../../../contract/control/api-key.ts';
import { operationsOf } from '../api/define-operation.ts';
import { idempotencyKey } from '../api/parameters.ts';
import { pageQuery } from '../../../contract/control/pages.ts';

const define = operationsOf('Keys', { scope: 'admin' });

/** A tenant's own keys, and its audit log. */
export const apiKeyOperations = [
  define.get('/v1/api-keys', 'list_api_keys', {
    summary: 'List the tenant’s keys',
    description: 'With their names, scopes and expiry, and when each was last used.',
    query: pageQuery,
    responses: { 200: { description: 'A page of keys, without their secrets.', schema: apiKeysList } },
    call: (service, { query }) => service.listApiKeys(query),
  }),
  define.post('/v1/api-keys', 'create_api_key', {
    summary: 'Create a key',
    description:
      'The key is returned only in this response. Its scopes say what it may do: `deploy` includes `read`, and `admin` includes all.',
    headers: [idempotencyKey],
    body: { schema: apiKeyCreateRequest, required: true },
    responses: { 201: { description: 'The key.', schema: newApiKey } },
    errors: [400],
    call: (service, { body, conditions }) => service.createApiKey(body, conditions),
  }),
  define.delete('/v1/api-keys/:api_key_id', 'revoke_api_key', {
    summary: 'Revoke a key',
    description:
      'Requests with it are refused from then on. The last key of a tenant that can create others can’t be revoked.',
    headers: [idempotencyKey],
    responses: { 204: { description: 'It is revoked.' } },
    errors: [400, 409],
    call: (service, { param, conditions }) => service.revokeApiKey(param('api_key_id'), conditions),
  }),
  define.get('/v1/audit', 'list_audit', {
    summary: 'List the audit log',
    description: 'Who changed what, without values of secrets. Pass `next_before` as `before` for older ones.',
    query: auditQuery,
    responses: { 200: { description: 'A page of changes, newest first.', schema: auditList } },
    call: (service, { query }) => service.listAudit(query),
  }),
];
