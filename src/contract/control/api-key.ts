import * as z from 'zod';

/** A key of a tenant in a list (our addition; control-service.md, Authentication, mentions keys only). */
export const apiKey = z.looseObject({
  id: z.string(),
  name: z.string(),
  created_at: z.string(),
  /** Accurate to some minutes; null before its first use. */
  last_used_at: z.string().nullable(),
  /** Whether it is valid for other tenants too. */
  is_organisation_key: z.boolean(),
  /** Whether it is the installation's key, which is stored in a file beside the service. */
  is_installation_key: z.boolean(),
});
export type ApiKeyReply = z.infer<typeof apiKey>;

/** A page of keys, newest first; a page shorter than `limit` is the last. */
export const apiKeysList = z.looseObject({ resources: z.array(apiKey), offset: z.int() });
export type ApiKeysList = z.infer<typeof apiKeysList>;

/** The body of POST /v1/api-keys. */
export const apiKeyCreateRequest = z.strictObject({
  /** A name of at most 100 characters on one line. */
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .regex(/^[^\p{Cc}]*$/u, 'must be one line'),
});

/** A created key: `key` is a secret, returned only once, and null in the response to a repeated request. */
export const newApiKey = apiKey.extend({ key: z.string().nullable() });
export type NewApiKey = z.infer<typeof newApiKey>;
