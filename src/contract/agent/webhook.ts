import * as z from 'zod';
import { freeObject, openWord } from './open-word.ts';
import { readWebhookDomain } from './webhook-domain.ts';
import { duplicateNameProblem, webhookHeaderProblem } from './webhook-headers.ts';

/** The default for the longest `webhook` of a run; section "Limits" leaves it open. */
export const maxWebhookUrlLength = 65_536;

/** The ports a webhook may go to where `allowed_ports` is not set (section "Limits"). */
export const defaultWebhookPorts = { 'https:': 443, 'http:': 80 } as const;

/** The default of `webhooks.env_prefix`: the fixed prefix of the public service, which ends in `WEBHOOK_`. */
const defaultWebhookEnvPrefix = 'LG_WEBHOOK_';

/** The operations that take an optional `webhook` (section "Endpoints"), with the plural `threads` of the usage example. */
export const webhookOperations = [
  '/threads/{thread_id}/runs',
  '/threads/{thread_id}/runs/crons',
  '/threads/{thread_id}/runs/stream',
  '/threads/{thread_id}/runs/wait',
  '/runs/crons',
  '/runs/stream',
  '/runs/wait',
] as const;

/** Restrictions on where webhooks may go (section "Webhook configuration", keys `webhooks.url.*`). */
export const webhookUrlRules = z.strictObject({
  /** Host names, or `*.` and a domain for all below it. */
  allowed_domains: z
    .array(
      z.string().refine((entry) => readWebhookDomain(entry) !== undefined, {
        error: 'must be a host name, or `*.` and a domain',
      }),
    )
    .optional(),
  require_https: z.boolean().optional(),
  /** Only these ports; without it 443 for https and 80 for http. */
  allowed_ports: z.array(z.int().min(1).max(65_535)).optional(),
  /** Relative addresses, calls of the server to itself, are refused. */
  disable_loopback: z.boolean().optional(),
  /** In characters. */
  max_url_length: z.int().min(1).optional(),
});
export type WebhookUrlRules = z.infer<typeof webhookUrlRules>;

/**
 * The key `webhooks` of the graph configuration file (section "Webhook configuration"). A header's value may name
 * variables as `${{ env.NAME }}`; only names that begin with `env_prefix` may be referenced, and one that is missing
 * keeps the server from starting.
 */
export const webhooksConfig = z
  .strictObject({
    headers: z.record(z.string(), z.string()).optional(),
    env_prefix: z.string().min(1).optional(),
    url: webhookUrlRules.optional(),
  })
  .superRefine(({ headers = {}, env_prefix = defaultWebhookEnvPrefix }, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const message = webhookHeaderProblem(name, value, env_prefix) ?? duplicateNameProblem(name, Object.keys(headers));
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['headers', name], message });
    }
  });
export type WebhooksConfig = z.infer<typeof webhooksConfig>;

/** An error in a webhook. */
const webhookError = z.strictObject({ error: z.string(), message: z.string() });

/**
 * The body of our server's webhook for a completed run (section "Webhook notification"): the shape of a run, with `values`
 * for stateful runs only, and `error` null on success.
 */
export const webhookPayloadSchema = z.strictObject({
  run_id: z.uuid(),
  thread_id: z.uuid(),
  assistant_id: z.string(),
  status: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  run_started_at: z.string(),
  /** Absent while the run has not ended. */
  run_ended_at: z.string().optional(),
  webhook_sent_at: z.string(),
  metadata: freeObject,
  kwargs: freeObject,
  values: z.unknown().optional(),
  multitask_strategy: z.string(),
  error: webhookError.nullable(),
});
export type WebhookPayload = z.infer<typeof webhookPayloadSchema>;

/**
 * A webhook as received: `error` may be absent, null, a bare string or an object; `values` may be absent. `kwargs` may
 * hold the token of the webhook's own URL: never print a payload.
 */
export const webhookReceived = z.looseObject({
  run_id: z.string(),
  thread_id: z.string(),
  assistant_id: z.string().nullish(),
  status: openWord(['success', 'error', 'timeout', 'interrupted']),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  run_started_at: z.string().nullish(),
  run_ended_at: z.string().nullish(),
  webhook_sent_at: z.string().nullish(),
  metadata: freeObject.nullish(),
  kwargs: freeObject.nullish(),
  values: z.unknown().optional(),
  multitask_strategy: z.string().nullish(),
  error: z.union([z.looseObject({ error: z.string().nullish(), message: z.string().nullish() }), z.string()]).nullish(),
});
export type WebhookReceived = z.infer<typeof webhookReceived>;
