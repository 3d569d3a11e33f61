import * as z from 'zod';

/** A secret: an environment variable of the deployment's container (control-service.md, Secret). */
export const secret = z.strictObject({ name: z.string().min(1), value: z.string() });
export type Secret = z.infer<typeof secret>;

/** A secret in a response, with its value unmasked: mask it before printing. */
export const secretReply = z.looseObject({ name: z.string(), value: z.string() });

/**
 * An environment variable from an existing orchestrator secret in the deployment's namespace (control-service.md,
 * SecretReference).
 */
export const secretReference = z.strictObject({
  name: z.string().min(1),
  /** The orchestrator secret, in the deployment's namespace. */
  secret_name: z.string().min(1),
  secret_key: z.string().min(1),
});
export type SecretReference = z.infer<typeof secretReference>;

export const secretReferenceReply = z.looseObject({
  name: z.string(),
  secret_name: z.string(),
  secret_key: z.string(),
});
