import { createHash } from 'node:crypto';
import { idempotencyKey, idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import { canonicalJson } from '../../../kit/json-object.ts';
import { accepted, wrongShape, type ValidationResult, type Refusal } from './refusal.ts';

/** An idempotent write: its key, and what identifies it. */
export interface KeyedWrite {
  key: string;
  /** Method and path. */
  request: string;
  /** SHA-256 of the parsed body: the order of fields and unknown fields make no difference. */
  digest: Buffer;
}

const loc = ['header', idempotencyKeyHeader];

/** The write with its key; undefined without a key, a 422 for an invalid one. */
export function readKeyedWrite(
  key: string | undefined,
  request: string,
  body: unknown = null,
): ValidationResult<KeyedWrite | undefined> {
  if (key === undefined) return accepted(undefined);
  const read = idempotencyKey.safeParse(key);
  if (!read.success) {
    return wrongShape([{ loc, msg: 'Send 1 to 255 visible ASCII characters', type: 'invalid_format' }]);
  }
  const digest = createHash('sha256').update(canonicalJson(body)).digest();
  return accepted({ key: read.data, request, digest });
}

/** The refusal of a key that was used for another write, which `earlier` names by method and path. */
export const keyOfAnother = (earlier: string): Refusal => ({
  status: 422,
  problems: [
    {
      loc,
      msg: `This key was sent before with another request (${earlier}). Repeat that one as it was, or choose a new key.`,
      type: 'idempotency_key_reused',
    },
  ],
});

/** The refusal of a key whose write succeeded and whose deployment has been deleted since. */
export const deletedSince: Refusal = {
  status: 409,
  detail:
    'A request with this Idempotency-Key was carried out before, and the deployment that it was about has been deleted since. Choose a new key to ask again.',
};
