import * as z from 'zod';
import { apiKeyCreateRequest, apiKeysList, newApiKey } from '../../contract/control/api-key.ts';
import { auditList, auditQuery } from '../../contract/control/audit.ts';
import { plainPage } from '../rules/queries.ts';
import type { Operation } from './operation.ts';

/** The response of `GET /info`. */
export const info = z.object({ service: z.string(), version: z.string(), idempotency_keys: z.boolean() });

/** The service itself: keys, the audit log, and its description. */
export const serviceOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/v1/api-keys',
    id: 'list_api_keys',
    summary: 'List the tenant’s keys',
    tag: 'Keys',
    query: plainPage,
    answers: { 200: { description: 'A page of keys, without their secrets.', schema: apiKeysList } },
    errors: [422],
  },
  {
    method: 'post',
    path: '/v1/api-keys',
    id: 'create_api_key',
    summary: 'Create a key',
    description: 'The key is returned only in this response.',
    tag: 'Keys',
    headers: ['idempotencyKey'],
    body: { schema: apiKeyCreateRequest, required: true },
    answers: { 201: { description: 'The key.', schema: newApiKey } },
    errors: [400, 413, 415, 422],
  },
  {
    method: 'delete',
    path: '/v1/api-keys/{api_key_id}',
    id: 'revoke_api_key',
    summary: 'Revoke a key',
    tag: 'Keys',
    headers: ['idempotencyKey'],
    answers: { 204: { description: 'It is revoked.' } },
    errors: [400, 404, 409, 422],
  },
  {
    method: 'get',
    path: '/v1/audit',
    id: 'list_audit',
    summary: 'List the audit log',
    tag: 'Keys',
    query: auditQuery,
    answers: { 200: { description: 'A page of changes, newest first.', schema: auditList } },
    errors: [422],
  },
  {
    method: 'get',
    path: '/ok',
    id: 'health',
    summary: 'Check the health of the service',
    tag: 'Service',
    answers: { 200: { description: 'It does.', schema: z.object({ ok: z.literal(true) }) } },
    open: true,
  },
  {
    method: 'get',
    path: '/info',
    id: 'info',
    summary: 'Read the version and the features of the service',
    tag: 'Service',
    answers: { 200: { description: 'The service.', schema: info } },
    open: true,
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'openapi',
    summary: 'Read this description',
    tag: 'Service',
    headers: ['fieldNames'],
    answers: { 200: { description: 'OpenAPI 3.1.', schema: z.record(z.string(), z.unknown()) } },
    open: true,
  },
  {
    method: 'get',
    path: '/docs',
    id: 'docs',
    summary: 'Show this description as a page',
    tag: 'Service',
    answers: { 200: { description: 'The page, without external resources.', type: 'text/html' } },
    open: true,
  },
  {
    method: 'get',
    path: '/docs/{asset}',
    id: 'docs_asset',
    summary: 'Read a file of the page',
    tag: 'Service',
    answers: { 200: { description: 'The file.', type: 'application/octet-stream' } },
    errors: [404],
    open: true,
  },
];
