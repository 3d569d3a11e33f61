import type { IncomingHttpHeaders } from 'node:http';
import { withoutTrailingSlashes } from '../../../kit/plain-text.ts';
import { agentAccessHeader, backgroundHeader, csrfTokenHeader } from '../../../contract/control/session.ts';
import { holdsApiKey } from '../api-keys/api-key.ts';
import { withoutSessionCookies } from '../sessions/cookie.ts';

/** The header that proves to an agent's process that a request passed the gateway. */
export const agentTokenHeader = 'x-landfall-agent-token';

/** Hop-by-hop headers: they concern one connection, not the message. */
export const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'];

/** The caller's credentials and session: for the service, not for the agent. */
const credentials = [
  'x-api-key',
  'x-tenant-id',
  'authorization',
  'proxy-authorization',
  csrfTokenHeader,
  backgroundHeader,
  agentAccessHeader,
  agentTokenHeader,
];

/** The headers about the requested address, which only the service may set. */
const ofTheAddress = new Set(['x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-prefix']);

/**
 * The prefixes of headers in which proxies report the origin and the first address of a request. Callers can forge them
 * and an agent may trust them, so they are dropped; the service adds none of its own.
 */
const ofProxies = (
  'forwarded x-forwarded via x-real x-original x-rewrite x-envoy x-azure x-appengine x-client-ip x-client-cert ' +
  'x-cluster-client-ip x-remote x-proxyuser-ip x-ssl x-host x-scheme x-url-scheme cf true-client-ip fastly-client ' +
  'client-ip remote front-end-https'
).split(' ');

/** Some servers treat an underscore as a hyphen. */
function isOfProxies(name: string): boolean {
  const spelled = `${name.replaceAll('_', '-')}-`;
  return !ofTheAddress.has(name) && ofProxies.some((prefix) => spelled.startsWith(`${prefix}-`));
}

/** Headers that a caller can't have dropped by naming them in `Connection`: the framing, and the service's own. */
const staying = new Set<string>(['host', 'content-length', 'transfer-encoding', ...ofTheAddress]);

/** The names in `Connection`, which concern one connection too. */
export function boundToConnection(headers: IncomingHttpHeaders): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return named.filter((name) => name !== '' && !staying.has(name));
}

/** Whether a text contains a key of the service: the caller's, or any other, valid or not. */
function holdsKey(text: string, shown: string): boolean {
  const [, encoded = ''] = /\bbasic +(\S+)/i.exec(text) ?? [];
  const read = [text, Buffer.from(encoded, 'base64').toString('latin1')];
  return read.some((said) => holdsApiKey(said) || (shown !== '' && said.includes(shown)));
}

/**
 * Drops the headers that the agent must not see, above all keys and session cookies, and adds its token.
 * `Authorization` is for the agent where a key or a session stands beside it. Mutates the given headers.
 */
export function prepareAgentRequest(
  headers: IncomingHttpHeaders,
  token: string,
  { bySession = false }: { bySession?: boolean } = {},
): void {
  const shown = String(headers['x-api-key'] ?? '').trim();
  // The service has handled `Expect` already.
  const dropped = new Set([...boundToConnection(headers), ...hopByHop, ...credentials, 'expect']);
  if ((shown !== '' || bySession) && !boundToConnection(headers).includes('authorization'))
    dropped.delete('authorization');
  for (const [name, value] of Object.entries(headers)) {
    if (dropped.has(name) || isOfProxies(name) || holdsKey(`${name}: ${String(value)}`, shown)) delete headers[name];
  }
  const cookies = withoutSessionCookies(headers.cookie ?? '');
  if (cookies === undefined) delete headers.cookie;
  else headers.cookie = cookies;
  headers[agentTokenHeader] = token;
}

/**
 * Sets the agent's public address, which the agent can't see and passes on to other agents. Values from callers are
 * dropped.
 *
 * @param publicUrl undefined where only the service's own address is known, so that the agent uses `Host`.
 * @param basePath the prefix of all of the service's paths, where there is no `publicUrl`; may be empty.
 */
export function setPublicAddress(
  headers: IncomingHttpHeaders,
  { publicUrl, basePath }: { publicUrl: string | undefined; basePath: string },
  path: string,
): void {
  for (const name of ofTheAddress) delete headers[name];
  const reached = publicUrl === undefined ? undefined : new URL(publicUrl);
  if (reached) {
    headers['x-forwarded-proto'] = reached.protocol.slice(0, -1);
    headers['x-forwarded-host'] = reached.host;
  }
  headers['x-forwarded-prefix'] = `${reached ? withoutTrailingSlashes(reached.pathname) : basePath}${path}`;
}
