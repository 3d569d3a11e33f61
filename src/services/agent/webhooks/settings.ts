import { isIP } from 'node:net';
import {
  readWebhookDomain,
  type WebhookDomain,
  envTemplate,
  isHeaderText,
  maxWebhookUrlLength,
} from '../../../contract/agent/webhook.ts';
import type { GraphConfig } from '../../../agent-folder/graph-config/schema.ts';
import { networkOf } from './address.ts';

/** The allowed URLs of webhooks. */
export interface UrlRules {
  /** Undefined for any host of a public network. */
  allowedDomains: readonly WebhookDomain[] | undefined;
  requireHttps: boolean;
  /** Undefined for 443 over https, and 80 over http. */
  allowedPorts: readonly number[] | undefined;
  disableLoopback: boolean;
  /** In characters. */
  maxUrlLength: number;
  privateNetworks: boolean;
}

export interface WebhookSettings {
  /** Runs accept webhooks, but none is sent. */
  disabled: boolean;
  /** The headers of every webhook; may hold secrets. By lower-case names. */
  headers: Readonly<Record<string, string>>;
  rules: UrlRules;
}

/** A setting that prevents the start: its path, and a sentence without values. */
export interface SettingProblem {
  path: readonly (string | number)[];
  message: string;
}

/** Resolves the validated settings (section "Webhook configuration") with the variables for their header templates. */
export function webhookSettings(
  { webhooks, http }: Pick<GraphConfig, 'webhooks' | 'http'>,
  env: Readonly<Record<string, string | undefined>>,
  privateNetworks: boolean,
): { ok: true; settings: WebhookSettings } | { ok: false; problems: SettingProblem[] } {
  const { headers = {}, url = {} } = webhooks ?? {};
  const domains = url.allowed_domains?.flatMap((entry) => readWebhookDomain(entry) ?? []);
  const problems = [...headerProblems(headers, env), ...domainProblems(url.allowed_domains ?? [])];
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    settings: {
      disabled: http?.disable_webhooks ?? false,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), filledIn(value, env)]),
      ),
      rules: {
        allowedDomains: domains,
        requireHttps: url.require_https ?? false,
        allowedPorts: url.allowed_ports,
        disableLoopback: url.disable_loopback ?? false,
        maxUrlLength: Math.min(url.max_url_length ?? maxWebhookUrlLength, maxWebhookUrlLength),
        privateNetworks,
      },
    },
  };
}

const filledIn = (value: string, env: Readonly<Record<string, string | undefined>>): string =>
  value.replace(envTemplate, (_, name: string) => env[name] ?? '');

function headerProblems(headers: Readonly<Record<string, string>>, env: Readonly<Record<string, string | undefined>>) {
  return Object.entries(headers).flatMap(([header, value]) =>
    [...value.matchAll(envTemplate)].flatMap(([, name = '']) => {
      const message = variableProblem(header, name, env[name]);
      return message === undefined ? [] : [{ path: ['webhooks', 'headers', header], message }];
    }),
  );
}

function variableProblem(header: string, name: string, value: string | undefined): string | undefined {
  if (value === undefined)
    return `the header ${header} names the variable ${name}, which is not set: give it to the deployment as a secret`;
  if (!isHeaderText(value))
    return `the header ${header} names the variable ${name}, whose value holds a line break or a letter that no header may carry`;
  return undefined;
}

/** Reports at the start, rather than for every run, an address to which no webhook may go. */
export function domainProblems(entries: readonly string[]): SettingProblem[] {
  return entries.flatMap((entry, index) => {
    const host = readWebhookDomain(entry)?.host.replace(/^\[|\]$/g, '') ?? '';
    if (isIP(host) === 0 || networkOf(host) !== 'forbidden') return [];
    const message = 'this address lies in a network that no webhook may go to, so that the entry would allow nothing';
    return [{ path: ['webhooks', 'url', 'allowed_domains', index], message }];
  });
}
