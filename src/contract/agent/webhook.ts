import * as z from 'zod';
import { freeObject, openWord } from './open-word.ts';

/** A parsed entry of `webhooks.url.allowed_domains`: one host, or all subdomains of a domain. */
export interface WebhookDomain {
  /** The host in the canonical form of URLs: lower case, ASCII (punycode), IPv6 addresses in brackets. */
  host: string;
  /** Whether the entry was `*.` and a domain, which matches all subdomains but not the domain itself. */
  isWildcard: boolean;
}

/**
 * Parses an entry of `webhooks.url.allowed_domains` (section "Webhook configuration"): a host name, an address, or `*.`
 * and a domain. Undefined for anything else, such as a URL or a name with a port, which could never match.
 */
export function readWebhookDomain(entry: string): WebhookDomain | undefined {
  const isWildcard = entry.startsWith('*.');
  const hostText = isWildcard ? entry.slice(2) : entry;
  const isBareIpv6 = hostText.includes(':') && !hostText.startsWith('[');
  const host = hostOf(isBareIpv6 ? `[${hostText}]` : hostText);
  if (host === undefined) return undefined;
  const isAddress = host.startsWith('[') || /^[\d.]+$/.test(host);
  return isWildcard && isAddress ? undefined : { host, isWildcard };
}

/** The canonical form of a host, without a trailing dot; undefined if invalid. */
function hostOf(hostText: string): string | undefined {
  if (!/^(?:\[[\da-fA-F:.]+\]|[^\s/?#@:\\[\]*%]+)$/.test(hostText) || !URL.canParse(`http://${hostText}/`))
    return undefined;
  const host = withoutEndDot(new URL(`http://${hostText}/`).hostname);
  return host === '' || host.split('.').includes('') ? undefined : host;
}

/** `example.com.` is the full form of `example.com`: the same host. */
export const withoutEndDot = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host);

/** Finds the names in the templates `${{ env.NAME }}` of a header's value. */
export const envTemplate = /\$\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

/** Headers that the sender sets itself: another value would break the request or its content type. */
const reservedHeaders = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Why a header of `webhooks.headers` can't be sent (section "Webhook configuration"), phrased to follow its name,
 * without its value except for names of variables; undefined if it can.
 *
 * @param prefix the required prefix of variable names.
 */
function webhookHeaderProblem(name: string, value: string, prefix: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'is no name that a header can have';
  if (reservedHeaders.has(name.toLowerCase())) return 'is set by the server itself';
  if (!isHeaderText(value)) return 'holds a line break or a letter that no header may carry';
  for (const [, variable = ''] of value.matchAll(envTemplate)) {
    if (!variable.startsWith(prefix))
      return `names the variable ${variable}, and only names that begin with ${prefix} may stand there (webhooks.env_prefix)`;
  }
  if (value.replace(envTemplate, '').includes('${{')) return 'holds a template other than ${{ env.NAME }}';
  return undefined;
}

/** Why a header of `webhooks.headers` duplicates another one, phrased to follow its name; undefined if it doesn't. */
function duplicateNameProblem(name: string, all: readonly string[]): string | undefined {
  const duplicateNames = all.filter((other) => other !== name && other.toLowerCase() === name.toLowerCase());
  if (duplicateNames.length === 0) return undefined;
  return `is the same header as ${duplicateNames.join(' and ')}, since case does not count in their names: write it once`;
}

/** Whether a text can be the value of a header. */
export const isHeaderText = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text);

/** The default for the longest `webhook` of a run; section "Limits" leaves it open. */
export const maxWebhookUrlLength = 65_536;

/** The ports that webhooks may use if `allowed_ports` is not set (section "Limits"). */
export const defaultWebhookPorts = { 'https:': 443, 'http:': 80 } as const;

/** The default of `webhooks.env_prefix`: the fixed prefix of the public service, which ends in `WEBHOOK_`. */
const defaultWebhookEnvPrefix = 'LG_WEBHOOK_';

/**
 * The operations that take an optional `webhook` (section "Endpoints"), with the plural `threads` of the usage example.
 */
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

const webhookError = z.strictObject({ error: z.string(), message: z.string() });

/** The body of our server's webhook for a completed run: `values` of stateful runs only, `error` null on success. */
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

/** A webhook as received, also from other servers. `kwargs` may hold the token of its URL: never print a payload. */
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
export type ReceivedWebhook = z.infer<typeof webhookReceived>;

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
