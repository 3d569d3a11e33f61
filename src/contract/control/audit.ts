import * as z from 'zod';

/** A change that was made, by the names of what it was about: never a value (an addition of ours). */
export const auditRecord = z.looseObject({
  id: z.string(),
  at: z.string(),
  /** `key`, `operator` (at the machine itself) or `service`. */
  actor: z.string(),
  /** Null where the actor is no key. */
  key_id: z.string().nullable(),
  /** The name that the key had then. */
  key_name: z.string().nullable(),
  /** In words: `patch deployment`. */
  operation: z.string(),
  /** What was changed: `deployment_id`, `deployment_name`, `revision_id`, `listener_id`, `api_key_id`, ... */
  subject: z.record(z.string(), z.string()),
  /** The names of the fields that are others since: `source_config.build_on_push`, `secrets.MODEL_KEY`. */
  fields: z.array(z.string()),
});

/** A page of changes, newest first. `next_before` asks for the next one; null on the last. */
export const auditList = z.looseObject({ resources: z.array(auditRecord), next_before: z.string().nullable() });
export type AuditList = z.infer<typeof auditList>;

/** The query of GET /v1/audit. */
export const auditQuery = z.strictObject({
  limit: z.int().min(1).max(100).optional(),
  /** `next_before` of the page before. */
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'must be the next_before of a page before')
    .optional(),
  operation: z.string().optional(),
  key_id: z.string().optional(),
  deployment_id: z.uuid().optional(),
});
