import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import type { BaseAddress } from '../contract/base-address.ts';

/** The variables that a proxy is read from, in the order in which they count; the small ones come first, as in curl. */
const PROXY_VARIABLES = { http: ['http_proxy', 'HTTP_PROXY'], https: ['https_proxy', 'HTTPS_PROXY'] } as const;

/** Variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The connections to one service, or why there can be none. `secrets` are the credentials of the proxy. */
export type MadeDispatcher = { ok: true; dispatcher: Dispatcher; secrets: string[] } | { ok: false; problem: string };

/**
 * Connections that are kept alive to one service: directly, or through the proxy that the environment names
 * (HTTP_PROXY for http, HTTPS_PROXY for https, and NO_PROXY for hosts that are reached directly). Loopback is never sent
 * to a proxy: it would be another machine's loopback, and the key would be shown to it.
 */
export function dispatcherFor({ origin, loopback }: BaseAddress, env: Environment): MadeDispatcher {
  // Requests keep to HTTP/1.1: what was sent and what was not is plain there, and nothing sends a write again.
  const options = { allowH2: false };
  const proxy = readProxy(env, origin.startsWith('https:') ? PROXY_VARIABLES.https : PROXY_VARIABLES.http);
  if (loopback || !proxy) return { ok: true, dispatcher: new Pool(origin, options), secrets: [] };
  if (proxy.url === '') return { ok: false, problem: `${proxy.variable} does not hold the address of a proxy` };
  const dispatcher = new EnvHttpProxyAgent({
    ...options,
    // A proxy that is reached over TLS would be offered HTTP/2 otherwise.
    proxyTls: options,
    httpProxy: proxy.url,
    httpsProxy: proxy.url,
    noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '',
  });
  return { ok: true, dispatcher, secrets: proxy.secrets };
}

interface Proxy {
  variable: string;
  /** Empty where the variable holds no address. */
  url: string;
  secrets: string[];
}

/** A proxy as people write it: a host and a port may stand without a scheme. */
function readProxy(env: Environment, variables: readonly string[]): Proxy | undefined {
  const variable = variables.find((name) => env[name]?.trim());
  const written = variable && env[variable]?.trim();
  if (!variable || !written) return undefined;
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `http://${written}`);
    const secrets = [url.password, decodeURIComponent(url.password)];
    decodeURIComponent(url.username);
    return { variable, url: /^https?:$/.test(url.protocol) ? url.href : '', secrets };
  } catch {
    return { variable, url: '', secrets: [] };
  }
}
