import * as z from 'zod';

/** A key of a tenant as it is listed (an addition of ours; control-service.md, Authentication, speaks of keys only). */
export const apiKey = z.looseObject({
  id: z.string(),
  name: z.string(),
  created_at: z.string(),
  /** Within some minutes; null before its first use. */
  last_used_at: z.string().nullable(),
  /** Whether it is good for further tenants too. */
  is_organisation_key: z.boolean(),
  /** Whether it is the key of the installation, which lies in a file beside the service. */
  is_installation_key: z.boolean(),
});
export type ApiKeyReply = z.infer<typeof apiKey>;

/** A page of keys, newest first; a page shorter than `limit` is the last. */
export const apiKeysList = z.looseObject({ resources: z.array(apiKey), offset: z.int() });
export type ApiKeysList = z.infer<typeof apiKeysList>;

/** The body of POST /v1/api-keys. */
export const apiKeyCreateRequest = z.strictObject({
  /** What its owner calls it: a line of at most 100 characters. */
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .regex(/^[^\p{Cc}]*$/u, 'must be one line'),
});

/** A key as its making is answered: `key` is a secret, told this once, and null in the answer to a repetition. */
export const newApiKey = apiKey.extend({ key: z.string().nullable() });
export type NewApiKey = z.infer<typeof newApiKey>;
