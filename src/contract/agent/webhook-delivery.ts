import * as z from 'zod';

/** `pending` before its receiver accepted or rejected it, or the attempts are used up. */
export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const;

/** A webhook of a run and its delivery (an addition of ours). */
export const webhookDelivery = z.looseObject({
  /** The id of the run, which each attempt has in the header `webhook-id`. */
  delivery_id: z.uuid(),
  run_id: z.uuid(),
  /** Null for a stateless run. */
  thread_id: z.uuid().nullable(),
  status: z.enum(deliveryStatuses),
  /** Origin and path, or the path alone for the agent server itself. Without the query, which may hold a token. */
  url: z.string(),
  attempts: z.int().min(0),
  last_attempt_at: z.string().nullable(),
  /** The status code of the last response; null if there was none. */
  last_status_code: z.int().nullable(),
  /** Why the last attempt failed. */
  last_error: z.string().nullable(),
  next_attempt_at: z.string().nullable(),
  run_ended_at: z.string().nullable(),
  /** When it was delivered or given up. */
  settled_at: z.string().nullable(),
});
export type WebhookDelivery = z.infer<typeof webhookDelivery>;
