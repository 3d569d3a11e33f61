import type { IncomingHttpHeaders } from 'node:http';
import { withoutTrailingSlashes } from '../../../kit/plain-text.ts';
import { agentAccessHeader, backgroundHeader, csrfTokenHeader } from '../../../contract/control/session.ts';
import { holdsApiKey } from '../api-keys/api-key.ts';
import { withoutSessionCookies } from '../sessions/cookie.ts';

/** The header that proves to an agent's process that a request passed the gateway. */
export const agentTokenHeader = 'x-landfall-agent-token';

/** Headers that concern one connection, not the message. */
export const hopByHopHeaders = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'];

/** The headers with credentials and session of the caller: they are for the service, not for the agent. */
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
const addressHeaders = new Set(['x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-prefix']);

/**
 * The prefixes of headers in which proxies report the client and the original address of a request. Callers can forge
 * them and an agent may trust them, so the service drops them and adds none.
 */
const proxyPrefixes = (
  'forwarded x-forwarded via x-real x-original x-rewrite x-envoy x-azure x-appengine x-client-ip x-client-cert ' +
  'x-cluster-client-ip x-remote x-proxyuser-ip x-ssl x-host x-scheme x-url-scheme cf true-client-ip fastly-client ' +
  'client-ip remote front-end-https'
).split(' ');

/** Some servers treat an underscore as a hyphen. */
function isProxyHeader(name: string): boolean {
  const hyphenated = `${name.replaceAll('_', '-')}-`;
  return !addressHeaders.has(name) && proxyPrefixes.some((prefix) => hyphenated.startsWith(`${prefix}-`));
}

/** Headers that are kept even if a caller names them in `Connection`: the framing, and those that the service sets. */
const undroppable = new Set<string>(['host', 'content-length', 'transfer-encoding', ...addressHeaders]);

/** The headers that `Connection` names: they concern one connection too. */
export function connectionHeaders(headers: IncomingHttpHeaders): string[] {
  const names = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== '' && !undroppable.has(name));
}

/** Whether a text contains an API key: the caller's, or any other, valid or not. */
function holdsKey(text: string, callerKey: string): boolean {
  const [, encoded = ''] = /\bbasic +(\S+)/i.exec(text) ?? [];
  const decodings = [text, Buffer.from(encoded, 'base64').toString('latin1')];
  return decodings.some((said) => holdsApiKey(said) || (callerKey !== '' && said.includes(callerKey)));
}

/**
 * Drops the headers that the agent must not see, above all keys and session cookies, and adds its token. Keeps
 * `Authorization` for the agent where a key or a session authenticates the caller. Mutates the headers.
 */
export function prepareAgentRequest(
  headers: IncomingHttpHeaders,
  token: string,
  { bySession = false }: { bySession?: boolean } = {},
): void {
  const callerKey = String(headers['x-api-key'] ?? '').trim();
  // The service has handled `Expect` already.
  const dropped = new Set([...connectionHeaders(headers), ...hopByHopHeaders, ...credentials, 'expect']);
  if ((callerKey !== '' || bySession) && !connectionHeaders(headers).includes('authorization'))
    dropped.delete('authorization');
  for (const [name, value] of Object.entries(headers)) {
    if (dropped.has(name) || isProxyHeader(name) || holdsKey(`${name}: ${String(value)}`, callerKey))
      delete headers[name];
  }
  const cookies = withoutSessionCookies(headers.cookie ?? '');
  if (cookies === undefined) delete headers.cookie;
  else headers.cookie = cookies;
  headers[agentTokenHeader] = token;
}

/**
 * Sets the headers with the agent's public address, which the agent can't know by itself. Drops the caller's values.
 *
 * @param publicUrl undefined where only the service's own address is known, so that the agent uses `Host`.
 * @param basePath the prefix of all of the service's paths, where there is no `publicUrl`; may be empty.
 */
export function setPublicAddress(
  headers: IncomingHttpHeaders,
  { publicUrl, basePath }: { publicUrl: string | undefined; basePath: string },
  path: string,
): void {
  for (const name of addressHeaders) delete headers[name];
  const publicAddress = publicUrl === undefined ? undefined : new URL(publicUrl);
  if (publicAddress) {
    headers['x-forwarded-proto'] = publicAddress.protocol.slice(0, -1);
    headers['x-forwarded-host'] = publicAddress.host;
  }
  headers['x-forwarded-prefix'] = `${publicAddress ? withoutTrailingSlashes(publicAddress.pathname) : basePath}${path}`;
}
