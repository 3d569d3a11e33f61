import * as z from 'zod';

/** A secret: an environment variable of the deployment's container (control-service.md, Secret). */
export const secret = z.strictObject({ name: z.string().min(1), value: z.string() });
export type Secret = z.infer<typeof secret>;

/** A secret in a response, unmasked where the service does not hide its value: mask it before printing. */
export const secretReply = z.looseObject({ name: z.string(), value: z.string().nullish() });
export type SecretReply = z.infer<typeof secretReply>;

/** What services show instead of a value: asterisks, dots or crosses, with a few characters of it at most, or a word. */
const shownInstead =
  /^(?:.{0,8}(?:[*•●]{3,}|\.{3}|…).{0,8}|x{4,}|[<[({]?(?:hidden|redacted|masked|encrypted)[>\])}]?)$/is;

/** The value of a secret in a response; undefined if the service hides it: without one, empty, or masked. */
export const shownValue = ({ value }: Pick<SecretReply, 'value'>): string | undefined =>
  !value || shownInstead.test(value) ? undefined : value;

/** The secrets in a response whose values are shown. */
export const shownSecrets = (secrets: readonly SecretReply[] | null | undefined): Secret[] =>
  (secrets ?? []).flatMap((each) => {
    const value = shownValue(each);
    return value === undefined ? [] : [{ name: each.name, value }];
  });

/** Their values alone. */
export const shownValues = (secrets: readonly SecretReply[] | null | undefined): string[] =>
  shownSecrets(secrets).map(({ value }) => value);

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
