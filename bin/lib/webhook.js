import { n as openWord, t as freeObject } from "./open-word.js";
import * as z from "zod";
// src/contract/agent/webhook.ts
/** The longest `webhook` a run may name where the configuration sets none; section "Limits" leaves it open. */
const MAX_WEBHOOK_URL_LENGTH = 65536;
/** Restrictions on where webhooks may go (section "Webhook configuration", keys `webhooks.url.*`). */
const WebhookUrlRules = z.strictObject({
	/** Host names, or `*.` and a domain for all below it. */
	allowed_domains: z.array(z.string().min(1)).optional(),
	require_https: z.boolean().optional(),
	/** Only these ports; without it 443 for https and 80 for http. */
	allowed_ports: z.array(z.int().min(1).max(65535)).optional(),
	/** Relative addresses, calls of the server to itself, are refused. */
	disable_loopback: z.boolean().optional(),
	/** In characters. */
	max_url_length: z.int().min(1).optional()
});
/**
* The key `webhooks` of the graph configuration file (section "Webhook configuration"). A header's value may name
* variables as `${{ env.NAME }}`; only names that begin with `env_prefix` may be referenced, and one that is missing
* keeps the server from starting.
*/
const WebhooksConfig = z.strictObject({
	headers: z.record(z.string(), z.string()).optional(),
	env_prefix: z.string().min(1).optional(),
	url: WebhookUrlRules.optional()
});
/** A failure as a webhook tells it. */
const WebhookError = z.strictObject({
	error: z.string(),
	message: z.string()
});
z.strictObject({
	run_id: z.uuid(),
	thread_id: z.uuid(),
	assistant_id: z.string(),
	status: z.string(),
	created_at: z.string(),
	updated_at: z.string(),
	run_started_at: z.string(),
	/** Left out while the run has not ended. */
	run_ended_at: z.string().optional(),
	webhook_sent_at: z.string(),
	metadata: freeObject,
	kwargs: freeObject,
	values: z.unknown().optional(),
	multitask_strategy: z.string(),
	error: WebhookError.nullable()
});
z.looseObject({
	run_id: z.string(),
	thread_id: z.string(),
	assistant_id: z.string().nullish(),
	status: openWord([
		"success",
		"error",
		"timeout",
		"interrupted"
	]),
	created_at: z.string().nullish(),
	updated_at: z.string().nullish(),
	run_started_at: z.string().nullish(),
	run_ended_at: z.string().nullish(),
	webhook_sent_at: z.string().nullish(),
	metadata: freeObject.nullish(),
	kwargs: freeObject.nullish(),
	values: z.unknown().optional(),
	multitask_strategy: z.string().nullish(),
	error: z.union([z.looseObject({
		error: z.string().nullish(),
		message: z.string().nullish()
	}), z.string()]).nullish()
});
export { WebhooksConfig as n, MAX_WEBHOOK_URL_LENGTH as t };
