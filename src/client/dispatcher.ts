import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import type { BaseAddress } from '../contract/base-address.ts';

/** The proxy variables by precedence: lower case first, as in curl. */
const PROXY_VARIABLES = { http: ['http_proxy', 'HTTP_PROXY'], https: ['https_proxy', 'HTTPS_PROXY'] } as const;

/** Variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The connection pool of one service, or why there is none. `secrets` are the proxy's credentials. */
export type MadeDispatcher = { ok: true; dispatcher: Dispatcher; secrets: string[] } | { ok: false; problem: string };

/**
 * Creates a keep-alive pool for one service, directly or through the proxy of the environment (HTTP_PROXY for http,
 * HTTPS_PROXY for https, NO_PROXY for direct hosts). Loopback never uses a proxy: it would reach another machine's
 * loopback, and expose the key.
 */
export function dispatcherFor({ origin, loopback }: BaseAddress, env: Environment): MadeDispatcher {
  // HTTP/1.1 only: it shows clearly what was sent, and never resends a write.
  const options = { allowH2: false };
  const proxy = readProxy(env, origin.startsWith('https:') ? PROXY_VARIABLES.https : PROXY_VARIABLES.http);
  if (loopback || !proxy) return { ok: true, dispatcher: new Pool(origin, options), secrets: [] };
  if (proxy.url === '') return { ok: false, problem: `${proxy.variable} does not hold the address of a proxy` };
  const dispatcher = new EnvHttpProxyAgent({
    ...options,
    // Without this, a proxy over TLS would be offered HTTP/2.
    proxyTls: options,
    httpProxy: proxy.url,
    httpsProxy: proxy.url,
    noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '',
  });
  return { ok: true, dispatcher, secrets: proxy.secrets };
}

interface Proxy {
  variable: string;
  /** Empty if the variable is not a URL. */
  url: string;
  secrets: string[];
}

/** Reads a proxy variable; the scheme is optional. */
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
