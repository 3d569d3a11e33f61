import * as z from 'zod';
import { objectName, secretKey } from './cluster-names.ts';

/** A secret: an environment variable of the deployment's container (docs/design/contract.md#secrets). */
export const secret = z.strictObject({ name: z.string().min(1), value: z.string() });
export type Secret = z.infer<typeof secret>;

/** A secret in a response. It may contain the real value: mask it before printing. */
export const secretReply = z.looseObject({ name: z.string(), value: z.string().nullish() });
export type SecretReply = z.infer<typeof secretReply>;

/** What services show instead of a value: nothing, a word, or a placeholder with a few characters of the value. */
const placeholder =
  /^(?:|\S{0,16}(?:[*•●]{3,}|\.{3}|…)\S{0,16}|x{4,}|[<[({]?(?:hidden|redacted|masked|filtered|encrypted)[>\])}]?)$/i;

/** The value of a secret in a response; undefined if the service hides it, or may do so. */
export const shownValue = ({ value }: Pick<SecretReply, 'value'>): string | undefined =>
  value == null || placeholder.test(value) ? undefined : value;

/** The secrets in a response; undefined if the service does not list them, or hides the value of any. */
export function knownSecrets(replies: readonly SecretReply[] | null | undefined): Secret[] | undefined {
  const known = replies?.flatMap((each) => {
    const value = shownValue(each);
    return value === undefined ? [] : [{ name: each.name, value }];
  });
  return known?.length === replies?.length ? known : undefined;
}

/** The texts in a response to mask in what is printed: all that may be values. */
export const textsToMask = (replies: readonly SecretReply[] | null | undefined): string[] =>
  (replies ?? []).flatMap(({ value }) => (value && /[^*•●]/.test(value) ? [value] : []));

/** A variable from an existing secret of the deployment's namespace (docs/design/contract.md#secrets). */
export const secretReference = z.strictObject({
  name: z.string().min(1),
  /** The orchestrator secret, in the deployment's namespace. */
  secret_name: objectName,
  secret_key: secretKey,
});
export type SecretReference = z.infer<typeof secretReference>;

export const secretReferenceReply = z.looseObject({
  name: z.string(),
  secret_name: z.string(),
  secret_key: z.string(),
});
