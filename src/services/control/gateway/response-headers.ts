import type { IncomingHttpHeaders } from 'node:http';
import { affectsSession } from '../sessions/cookie.ts';
import { agentTokenHeader, connectionHeaders, hopByHopHeaders } from './headers.ts';

/** Who gets a response: a program or a page with a key, a page of the console with a session, or a page that loads a UI file. */
export type Audience = 'client' | 'page' | 'session' | 'ui-file';

/** Headers by which an agent could affect the whole origin or host of the service, beyond its own paths. */
const originHeaders = [
  'clear-site-data',
  'service-worker-allowed',
  'strict-transport-security',
  'alt-svc',
  'nel',
  'report-to',
  'reporting-endpoints',
  'accept-ch',
];

/**
 * Headers that a web server in front obeys: it would send one of its own files, another page of the service or a stored
 * copy instead. https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_ignore_headers
 */
const webServerHeaders = [
  'x-accel-redirect',
  'x-accel-expires',
  'x-accel-limit-rate',
  'x-accel-charset',
  'x-sendfile',
  'x-sendfile-type',
  'x-sendfile2',
  'x-lighttpd-send-file',
  'x-lighttpd-send-tempfile',
  'x-reproxy-url',
  'x-reproxy-file',
  'surrogate-control',
];

/** The headers about a body. */
const bodyHeaders =
  'accept-ranges age cache-control content-encoding content-language content-length content-range content-type date ' +
  'etag expires last-modified vary cross-origin-resource-policy timing-allow-origin';

/** The headers of an API. */
const apiHeaders =
  'allow content-disposition content-location content-security-policy deprecation location mcp-protocol-version ' +
  'mcp-session-id ratelimit ratelimit-limit ratelimit-policy ratelimit-remaining ratelimit-reset retry-after ' +
  'server-timing sunset';

/**
 * The headers that a browser may get. An allow list, because browsers learn new headers that affect a whole origin. `x-`
 * headers belong to applications: those that browsers obey affect only the response.
 */
const allowedHeaders: Readonly<Record<Exclude<Audience, 'client'>, RegExp>> = {
  'ui-file': namePattern(bodyHeaders, '|access-control-[a-z-]+'),
  page: namePattern(`${bodyHeaders} ${apiHeaders} www-authenticate`, '|access-control-[a-z-]+|x-.+'),
  session: namePattern(`${bodyHeaders} ${apiHeaders}`, '|x-.+'),
};

function namePattern(names: string, patterns: string): RegExp {
  return new RegExp(`^(?:${names.replaceAll(' ', '|')}${patterns})$`);
}

/** Schemes for which a browser prompts for a password, or sends the one of the operating system. */
const promptingSchemes = /\b(?:basic|digest|ntlm|negotiate)\b/i;

/**
 * The headers of an agent's response for its reader, without the agent's token and session cookies. A browser gets only
 * allowed ones, and a policy that lets nothing in the response run. @param origin the page's origin, which may read the
 * response on the agents' own origin.
 */
export function agentResponseHeaders(
  headers: IncomingHttpHeaders,
  audience: Audience,
  origin?: string,
): IncomingHttpHeaders {
  const dropped = new Set([...connectionHeaders(headers), ...hopByHopHeaders, ...originHeaders, ...webServerHeaders]);
  dropped.add('proxy-authenticate').add(agentTokenHeader).add('set-cookie');
  const isKept = (name: string, value: unknown): boolean => {
    if (dropped.has(name)) return false;
    if (audience === 'client') return true;
    return (
      allowedHeaders[audience].test(name) && !(name === 'www-authenticate' && promptingSchemes.test(String(value)))
    );
  };
  const passedHeaders: IncomingHttpHeaders = Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => isKept(name, value)),
  );
  if (audience !== 'client') return { ...passedHeaders, ...inertHeaders(passedHeaders, audience, origin) };
  const cookies = headers['set-cookie']?.filter((cookie) => !affectsSession(cookie)) ?? [];
  const isDropped = cookies.length === 0 || connectionHeaders(headers).includes('set-cookie');
  return isDropped ? passedHeaders : { ...passedHeaders, 'set-cookie': cookies };
}

/** The headers that keep a browser from running or, for a session, caching a response. */
function inertHeaders(
  { 'content-security-policy': own }: IncomingHttpHeaders,
  audience: Exclude<Audience, 'client'>,
  origin: string | undefined,
): IncomingHttpHeaders {
  return {
    'content-security-policy': own === undefined ? 'sandbox' : `${String(own)}, sandbox`,
    'x-content-type-options': 'nosniff',
    // Otherwise the browser would show one person's cached data to others, and to pages without a session.
    ...(audience === 'session' ? { 'cache-control': 'no-store' } : {}),
    ...(audience === 'session' && origin !== undefined
      ? { 'access-control-allow-origin': origin, 'access-control-expose-headers': '*' }
      : {}),
  };
}

/**
 * Whether a browser may have sent a request. Requests to other origins name their own, on addresses that browsers trust
 * all of them have metadata, and requests for a page ask for a secure one; clients that imitate `fetch` send its mode alone.
 */
export const isFromBrowser = (headers: IncomingHttpHeaders): boolean =>
  ['origin', 'sec-fetch-site', 'sec-fetch-dest', 'upgrade-insecure-requests'].some(
    (name) => headers[name] !== undefined,
  );
