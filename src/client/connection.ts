import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { type Clock, steadyClock } from '../kit/clock.ts';
import { type BaseAddress, readAddress } from '../kit/base-address.ts';
import { invalidInHeader } from '../kit/base-address.ts';
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts';

export interface ConnectionSettings {
  /** Sent as `X-Api-Key`. */
  apiKey?: string | undefined;
  /** Sent as `X-Tenant-Id`: the workspace, for keys of an organisation. */
  tenantId?: string | undefined;
  /** Sent as `Authorization: Bearer`. */
  bearer?: string | undefined;
  /** Sent as `User-Agent`; an agent server passes it to runs and webhooks. */
  userAgent: string;
  /** Plain http is refused except on loopback, unless this is true. */
  allowHttp?: boolean | undefined;
  /** The clock for delays and deadlines. */
  clock?: Clock | undefined;
  /** Returns a number from 0 to 1, for the jitter. */
  random?: (() => number) | undefined;
  /** The connection pool; by default the client creates one, which `close` ends. It must accept any origin. */
  dispatcher?: Dispatcher | undefined;
  /** The source of HTTP_PROXY, HTTPS_PROXY and NO_PROXY; the process's environment by default. */
  env?: Environment | undefined;
  /** The timeout (ms) of one attempt, from connecting to the last byte. */
  attemptTimeoutMs?: number | undefined;
  /** The largest response body (bytes). */
  maxBodyBytes?: number | undefined;
  /** The maximum number of values in a response or an event, which limits the time of parsing. Unlimited by default. */
  maxJsonValues?: number | undefined;
  retry?: Partial<RetryPolicy> | undefined;
}

/** The prepared settings of a client's calls. */
export type Connection = ReturnType<typeof connection>;

/**
 * Prepares a connection. Invalid settings (a malformed URL, plain http, a key that is not a valid header value) don't
 * throw here: every call then fails as unreachable with the reason, before anything is sent.
 */
export function connection(baseUrl: string, settings: ConnectionSettings) {
  // Secrets often end with the line break of their file.
  const [apiKey, tenantId, bearer] = [settings.apiKey?.trim(), settings.tenantId?.trim(), settings.bearer?.trim()];
  const parsed = readAddress(baseUrl, { allowHttp: settings.allowHttp ?? false });
  const { origin, prefix } = parsed.ok ? parsed.address : { origin: parsed.shown.replace(/\/$/, ''), prefix: '' };
  const ownDispatcher =
    parsed.ok && !settings.dispatcher ? dispatcherFor(parsed.address, settings.env ?? process.env) : undefined;
  const refusal =
    (parsed.ok ? undefined : parsed.problem) ??
    ownDispatcher?.problem ??
    invalidInHeader('the api key', apiKey) ??
    invalidInHeader('the tenant id', tenantId) ??
    invalidInHeader('the bearer token', bearer);
  const headers: Readonly<Record<string, string>> = {
    accept: 'application/json',
    // Uncompressed, so that the body limit applies to the real size.
    'accept-encoding': 'identity',
    'user-agent': settings.userAgent,
    ...(apiKey ? { 'x-api-key': apiKey } : {}),
    ...(tenantId ? { 'x-tenant-id': tenantId } : {}),
    ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
  };
  return {
    origin,
    prefix,
    /** Why no request can be sent, if the settings are invalid. */
    refusal,
    dispatcher: settings.dispatcher ?? ownDispatcher?.dispatcher,
    headers,
    headersWithBody: { ...headers, 'content-type': 'application/json' },
    /** Keys, tokens and the proxy's password, which errors must not contain. */
    secrets: [apiKey, bearer, ...(ownDispatcher?.secrets ?? [])].filter((secret) => secret !== undefined),
    clock: settings.clock ?? steadyClock,
    random: settings.random ?? Math.random,
    policy: { ...defaultRetryPolicy, ...settings.retry },
    attemptTimeoutMs: settings.attemptTimeoutMs ?? 30_000,
    callTimeoutMs: 120_000,
    maxBodyBytes: settings.maxBodyBytes ?? 16 * 1024 * 1024,
    maxJsonValues: settings.maxJsonValues ?? Infinity,
    close: async (): Promise<void> => ownDispatcher?.dispatcher?.destroy(),
  };
}

/** The proxy variables by precedence: lower case first, as in curl. */
const proxyVariables = { http: ['http_proxy', 'HTTP_PROXY'], https: ['https_proxy', 'HTTPS_PROXY'] } as const;

/** Variables by name, as `process.env` has them. */
type Environment = Readonly<Record<string, string | undefined>>;

/** The connection pool of one service with the proxy's credentials, or why there is none. */
interface DispatcherResult {
  dispatcher?: Dispatcher;
  secrets?: string[];
  problem?: string;
}

/**
 * Creates a keep-alive pool for one service, directly or through the proxy of the environment (HTTP_PROXY for http,
 * HTTPS_PROXY for https, NO_PROXY for direct hosts). Loopback never uses a proxy: it would reach another machine's
 * loopback, and expose the key.
 */
function dispatcherFor({ origin, loopback }: BaseAddress, env: Environment): DispatcherResult {
  // HTTP/1.1 only: it shows clearly what was sent, and never resends a write.
  const options = { allowH2: false };
  const proxy = readProxy(env, origin.startsWith('https:') ? proxyVariables.https : proxyVariables.http);
  if (loopback || !proxy) return { dispatcher: new Pool(origin, options) };
  if (proxy.url === '') return { problem: `${proxy.variable} does not hold the address of a proxy` };
  const dispatcher = new EnvHttpProxyAgent({
    ...options,
    // Without this, a proxy over TLS would be offered HTTP/2.
    proxyTls: options,
    httpProxy: proxy.url,
    httpsProxy: proxy.url,
    noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '',
  });
  return { dispatcher, secrets: proxy.secrets };
}

/** Reads a proxy variable; the scheme is optional. `url` is empty if the variable is not a URL. */
function readProxy(
  env: Environment,
  variables: readonly string[],
): { variable: string; url: string; secrets: string[] } | undefined {
  const variable = variables.find((name) => env[name]?.trim());
  const value = variable && env[variable]?.trim();
  if (!variable || !value) return undefined;
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);
    const secrets = [url.password, decodeURIComponent(url.password)];
    decodeURIComponent(url.username);
    return { variable, url: /^https?:$/.test(url.protocol) ? url.href : '', secrets };
  } catch {
    return { variable, url: '', secrets: [] };
  }
}
