import * as z from 'zod';
import { apiKeyScopes, type ApiKeyScope } from './api-key-scopes.ts';

/** Whether a key can create others at any time, whatever its expiry is given as. */
export const isLasting = (key: { scopes: readonly ApiKeyScope[]; expires_at: unknown }): boolean =>
  key.scopes.includes('admin') && key.expires_at === null;

/** A key of a tenant in a list (our addition: docs/design/contract.md#authentication only mentions keys). */
export const apiKey = z.looseObject({
  id: z.string(),
  name: z.string(),
  created_at: z.string(),
  /** Accurate to some minutes; null before its first use. */
  last_used_at: z.string().nullable(),
  scopes: z.array(z.enum(apiKeyScopes)),
  /** Requests with it are refused from then on; null where it does not expire. */
  expires_at: z.string().nullable(),
  is_organisation_key: z.boolean(),
  /** Whether it is the installation's key, which is stored in a file beside the service. */
  is_installation_key: z.boolean(),
});
export type ApiKeyReply = z.infer<typeof apiKey>;

/** A page of keys, newest first; a page shorter than `limit` is the last. */
export const apiKeysList = z.looseObject({ resources: z.array(apiKey), offset: z.int() });
export type ApiKeysList = z.infer<typeof apiKeysList>;

/** A name of one line, of at most `max` characters. */
export const lineOfText = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}]*$/u, 'must be one line');

/** The body of POST /v1/api-keys. */
export const apiKeyCreateRequest = z.strictObject({
  name: lineOfText(100),
  /** `admin` when absent. */
  scopes: z.array(z.enum(apiKeyScopes)).min(1).optional(),
  /** A time in the future; the key does not expire when it is absent or null. */
  expires_at: z.iso.datetime({ offset: true }).nullish(),
});

/** A created key: `key` is a secret, returned only once, and null in the response to a repeated request. */
export const newApiKey = apiKey.extend({ key: z.string().nullable() });
export type NewApiKey = z.infer<typeof newApiKey>;

/** A change with the names of the affected resources, never a value (our addition). */
export const auditRecord = z.looseObject({
  id: z.string(),
  at: z.string(),
  /** `key`, `operator` (at the machine itself) or `service`. */
  actor: z.string(),
  key_id: z.string().nullable(),
  key_name: z.string().nullable(),
  /** For people: `patch deployment`. */
  operation: z.string(),
  /** The affected resources: `deployment_id`, `deployment_name`, `revision_id`, `listener_id`, `api_key_id`, ... */
  subject: z.record(z.string(), z.string()),
  /** The names of the changed fields: `source_config.build_on_push`, `secrets.MODEL_KEY`. */
  fields: z.array(z.string()),
});

/** A page of changes, newest first. `next_before` is the cursor of the next one; null on the last. */
export const auditList = z.looseObject({ resources: z.array(auditRecord), next_before: z.string().nullable() });
export type AuditList = z.infer<typeof auditList>;

/** The query of GET /v1/audit. */
export const auditQuery = z.strictObject({
  limit: z.int().min(1).max(100).optional(),
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'must be the next_before of a page before')
    .optional(),
  operation: z.string().optional(),
  key_id: z.string().optional(),
  deployment_id: z.uuid().optional(),
});
export type AuditQuery = z.infer<typeof auditQuery>;
