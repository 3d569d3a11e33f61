import * as z from 'zod';

/** The header that identifies a write, so that it can be repeated (our addition to the contract). */
export const idempotencyKeyHeader = 'Idempotency-Key';

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'an idempotency key is 1 to 255 visible ASCII characters');

/** The fields of a control service's `GET /info` that clients use. */
export const controlInfo = z.looseObject({
  idempotency_keys: z.boolean().optional().catch(undefined),
  verdicts: z.boolean().optional().catch(undefined),
  baselines: z.boolean().optional().catch(undefined),
  holds: z.boolean().optional().catch(undefined),
  pins_commits: z.boolean().optional().catch(undefined),
  copies_builds: z.boolean().optional().catch(undefined),
  scales_to_zero: z.boolean().optional().catch(undefined),
  console_url: z.string().optional().catch(undefined),
});
