import type { Dispatcher } from 'undici';
import { steadyClock, type Clock } from '../clock.ts';
import { readAddress } from '../contract/base-address.ts';
import { unfitForHeader } from '../contract/header-value.ts';

import { dispatcherFor, type Environment } from './dispatcher.ts';
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts';

/** What both clients are told about whom they talk to and how. */
export interface ConnectionSettings {
  /** Sent as `X-Api-Key`. */
  apiKey?: string | undefined;
  /** Sent as `X-Tenant-Id`: the workspace, for keys of an organisation. */
  tenantId?: string | undefined;
  /** Sent as `Authorization: Bearer`. */
  bearer?: string | undefined;
  /** Sent as `User-Agent`; an agent server hands it on to runs and webhooks. */
  userAgent: string;
  /** Plain http is refused off loopback without this. */
  allowHttp?: boolean | undefined;
  /** What waits between attempts, and what `deadline` is measured by. */
  clock?: Clock | undefined;
  /** From 0 to 1, for the jitter. */
  random?: (() => number) | undefined;
  /** The connections to use; without them some are made, which `close` ends. They have to take any origin. */
  dispatcher?: Dispatcher | undefined;
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read; the process's own by default. */
  env?: Environment | undefined;
  /** The longest that one attempt takes, from connecting to the last byte (ms). */
  attemptTimeoutMs?: number | undefined;
  /** The longest that a call takes with all its attempts where its caller names no deadline (ms). */
  callTimeoutMs?: number | undefined;
  /** The longest body that is read (bytes). */
  maxBodyBytes?: number | undefined;
  retry?: Partial<RetryPolicy> | undefined;
}

/** What a call needs to know, worked out once. */
export interface Connection {
  origin: string;
  prefix: string;
  /** Why nothing is sent at all, in words, where the settings do not allow it. */
  refusal: string | undefined;
  dispatcher: Dispatcher | undefined;
  headers: Readonly<Record<string, string>>;
  headersWithBody: Readonly<Record<string, string>>;
  /** What is never told: keys and tokens, and the proxy's password. */
  secrets: readonly string[];
  clock: Clock;
  random: () => number;
  policy: RetryPolicy;
  attemptTimeoutMs: number;
  callTimeoutMs: number;
  maxBodyBytes: number;
  close(): Promise<void>;
}

/**
 * Makes a connection. A setting that cannot work (an address that is none, plain http, a key that no header may carry)
 * throws nothing here: every call then ends as unreachable and says why, before anything is sent.
 */
export function connection(baseUrl: string, settings: ConnectionSettings): Connection {
  const { apiKey, tenantId, bearer } = trimmed(settings);
  const read = readAddress(baseUrl, { allowHttp: settings.allowHttp ?? false });
  const { origin, prefix } = read.ok ? read.address : { origin: read.shown.replace(/\/$/, ''), prefix: '' };
  const made = read.ok && !settings.dispatcher ? dispatcherFor(read.address, settings.env ?? process.env) : undefined;
  const refusal =
    (read.ok ? undefined : read.problem) ??
    (made && !made.ok ? made.problem : undefined) ??
    unfitForHeader('the api key', apiKey) ??
    unfitForHeader('the tenant id', tenantId) ??
    unfitForHeader('the bearer token', bearer);
  const dispatcher = settings.dispatcher ?? (made?.ok ? made.dispatcher : undefined);
  const headers = {
    accept: 'application/json',
    // What is not compressed needs no bound on what it unpacks to.
    'accept-encoding': 'identity',
    'user-agent': settings.userAgent,
    ...(apiKey ? { 'x-api-key': apiKey } : {}),
    ...(tenantId ? { 'x-tenant-id': tenantId } : {}),
    ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
  };
  return {
    origin,
    prefix,
    refusal,
    dispatcher,
    headers,
    headersWithBody: { ...headers, 'content-type': 'application/json' },
    secrets: [apiKey, bearer, ...(made?.ok ? made.secrets : [])].filter((secret) => secret !== undefined),
    clock: settings.clock ?? steadyClock,
    random: settings.random ?? Math.random,
    policy: { ...defaultRetryPolicy, ...settings.retry },
    attemptTimeoutMs: settings.attemptTimeoutMs ?? 30_000,
    callTimeoutMs: settings.callTimeoutMs ?? 120_000,
    maxBodyBytes: settings.maxBodyBytes ?? 16 * 1024 * 1024,
    close: async () => {
      if (made?.ok) await made.dispatcher.destroy();
    },
  };
}

/** Secrets are often stored with the line break that ended their line. */
function trimmed({ apiKey, tenantId, bearer }: ConnectionSettings): {
  apiKey: string | undefined;
  tenantId: string | undefined;
  bearer: string | undefined;
} {
  return { apiKey: apiKey?.trim(), tenantId: tenantId?.trim(), bearer: bearer?.trim() };
}
