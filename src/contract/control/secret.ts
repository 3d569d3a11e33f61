import * as z from 'zod';

/** A secret: an environment variable of the deployment's container (control-service.md, Secret). */
export const secret = z.strictObject({ name: z.string().min(1), value: z.string() });
export type Secret = z.infer<typeof secret>;

/** A secret in a response. It may contain the real value: mask it before printing. */
export const secretReply = z.looseObject({ name: z.string(), value: z.string().nullish() });
export type SecretReply = z.infer<typeof secretReply>;

/** A masked value: asterisks, bullets or an ellipsis, with at most a few characters of the value before and after. */
const masked = /^\S{0,16}(?:[*•●]{3,}|\.{3}|…)\S{0,16}$/;
/** Other texts in place of a value, which could also be real values. */
const placeholder = /^(?:|x{4,}|[<[({]?(?:hidden|redacted|masked|filtered|encrypted)[>\])}]?)$/i;

/** A secret of a deployment, without its value where the service hides it. */
export type HeldSecret = Pick<Secret, 'name'> & Partial<Pick<Secret, 'value'>>;

/**
 * The secrets in a response; undefined if the service does not list them. A value is hidden if it is absent or masked.
 * A placeholder counts as a real value if other values are visible.
 */
export function heldSecrets(replies: readonly SecretReply[] | null | undefined): HeldSecret[] | undefined {
  const isHidden = (value: string | null | undefined) => value == null || masked.test(value);
  const hidesAll = replies?.every(({ value }) => isHidden(value) || placeholder.test(value ?? ''));
  return replies?.map(({ name, value }) => (hidesAll || value == null || isHidden(value) ? { name } : { name, value }));
}

/** The secrets in a response with their values; undefined if the service hides any. */
export function knownSecrets(replies: readonly SecretReply[] | null | undefined): Secret[] | undefined {
  const held = heldSecrets(replies);
  const known = held?.flatMap(({ name, value }) => (value === undefined ? [] : [{ name, value }]));
  return known?.length === held?.length ? known : undefined;
}

/** The texts in a response to mask in what is printed: also those that only look masked. */
export const textsToMask = (replies: readonly SecretReply[] | null | undefined): string[] =>
  (replies ?? []).flatMap(({ value }, index) => {
    const isKnown = heldSecrets(replies)?.[index]?.value !== undefined;
    return value && (isKnown || /[^*•●.…]/.test(value.replace(placeholder, ''))) ? [value] : [];
  });

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
