import * as z from 'zod';

/** The header that tells what makes a write one (an addition of ours; control-service.md has none). */
export const idempotencyKeyHeader = 'Idempotency-Key';

/** A key as it may be sent. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'an idempotency key is 1 to 255 visible ASCII characters');

/** What `GET /info` of a control service tells of it, as far as anything here depends on it. */
export const controlInfo = z.looseObject({ idempotency_keys: z.boolean().optional().catch(undefined) });
