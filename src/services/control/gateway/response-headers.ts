import type { IncomingHttpHeaders } from 'node:http';
import { touchesSession } from '../sessions/cookie.ts';
import { agentTokenHeader, boundToConnection, hopByHop } from './headers.ts';

/** Who gets a response: a program or a page with a key, a page of the console with a session, or a tag of any page. */
export type Audience = 'client' | 'page' | 'session' | 'ui-file';

/** Headers with which an agent would act on the whole origin or host of the service, and not on its own paths. */
const ofTheOrigin = [
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
 * Headers on which a web server in front acts: with these it would send one of its own files, another page of the service
 * or a stored copy instead. https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_ignore_headers
 */
const ofWebServers = [
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

/** The headers of a body, which every reader of it needs. */
const ofTheBody =
  'accept-ranges age cache-control content-encoding content-language content-length content-range content-type date ' +
  'etag expires last-modified vary cross-origin-resource-policy timing-allow-origin';

/** The headers of an interface for programs. */
const ofTheInterface =
  'allow content-disposition content-location content-security-policy deprecation location mcp-protocol-version ' +
  'mcp-session-id ratelimit ratelimit-limit ratelimit-policy ratelimit-remaining ratelimit-reset retry-after ' +
  'server-timing sunset';

/**
 * What a browser gets. A list of what is allowed, because browsers learn new headers that act on a whole origin. `x-` is
 * for applications: of what browsers know by that prefix, nothing acts on more than the response.
 */
const allowed: Readonly<Record<Exclude<Audience, 'client'>, RegExp>> = {
  'ui-file': namesOf(ofTheBody, '|access-control-[a-z-]+'),
  page: namesOf(`${ofTheBody} ${ofTheInterface} www-authenticate`, '|access-control-[a-z-]+|x-.+'),
  session: namesOf(`${ofTheBody} ${ofTheInterface}`, '|x-.+'),
};

function namesOf(names: string, patterns: string): RegExp {
  return new RegExp(`^(?:${names.replaceAll(' ', '|')}${patterns})$`);
}

/** Schemes for which a browser prompts for a password, or sends that of the operating system. */
const prompting = /\b(?:basic|digest|ntlm|negotiate)\b/i;

/**
 * The headers of an agent's response as its reader gets them, without the agent's token and session cookies. A browser
 * gets what is allowed only, and what lets nothing in the response run. @param origin that of the page, which may read
 * the response to its session's token on the agents' own origin.
 */
export function agentResponseHeaders(
  headers: IncomingHttpHeaders,
  audience: Audience,
  origin?: string,
): IncomingHttpHeaders {
  const dropped = new Set([...boundToConnection(headers), ...hopByHop, ...ofTheOrigin, ...ofWebServers]);
  dropped.add('proxy-authenticate').add(agentTokenHeader).add('set-cookie');
  const isKept = (name: string, value: unknown): boolean => {
    if (dropped.has(name)) return false;
    if (audience === 'client') return true;
    return allowed[audience].test(name) && !(name === 'www-authenticate' && prompting.test(String(value)));
  };
  const kept: IncomingHttpHeaders = Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => isKept(name, value)),
  );
  if (audience !== 'client') return { ...kept, ...inert(kept, audience, origin) };
  const cookies = headers['set-cookie']?.filter((cookie) => !touchesSession(cookie)) ?? [];
  const isDropped = cookies.length === 0 || boundToConnection(headers).includes('set-cookie');
  return isDropped ? kept : { ...kept, 'set-cookie': cookies };
}

function inert(
  { 'content-security-policy': own }: IncomingHttpHeaders,
  audience: Exclude<Audience, 'client'>,
  origin: string | undefined,
): IncomingHttpHeaders {
  return {
    'content-security-policy': own === undefined ? 'sandbox' : `${String(own)}, sandbox`,
    'x-content-type-options': 'nosniff',
    // The browser would keep the data of one person for others, and for pages that it opens without a session.
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
export const isOfBrowser = (headers: IncomingHttpHeaders): boolean =>
  ['origin', 'sec-fetch-site', 'sec-fetch-dest', 'upgrade-insecure-requests'].some(
    (name) => headers[name] !== undefined,
  );
