import type { IncomingHttpHeaders } from 'node:http';
import { withoutTrailingSlashes } from '../../contract/plain-text.ts';
import { holdsApiKey } from '../keys/api-key.ts';

/** The header by which an agent's process knows that a request came through the gateway. */
export const agentTokenHeader = 'x-landfall-agent-token';

/** They speak about one connection, not about the message. */
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'];

/** What a caller shows to be let in: it is for the service and none of the agent's business. */
const credentials = ['x-api-key', 'x-tenant-id', 'authorization', 'proxy-authorization', agentTokenHeader];

/** What an agent is told of the address that was asked for: the service's own words, whatever a caller sends. */
const ofTheAddress = ['x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-prefix'] as const;

/** A caller may not have these dropped by naming them in `Connection`: where the body ends, and the service's words. */
const staying = new Set<string>(['host', 'content-length', 'transfer-encoding', ...ofTheAddress]);

/** Names that the sender of a message bound to its own connection. */
function boundToConnection(headers: IncomingHttpHeaders): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return named.filter((name) => name !== '' && !staying.has(name));
}

/**
 * Whether `Authorization` is a word to the agent, whose own rules may ask for it: it is where the key stands in
 * `X-Api-Key`. A key of the service never is: neither the one that was shown, nor another, in whatever scheme.
 */
function isWordToTheAgent({ 'x-api-key': key, authorization = '' }: IncomingHttpHeaders): boolean {
  const shown = typeof key === 'string' ? key.trim() : '';
  if (shown === '') return false;
  const [, encoded = ''] = /^basic +(\S+)/i.exec(authorization) ?? [];
  const said = [authorization, Buffer.from(encoded, 'base64').toString('latin1')];
  return !said.some((text) => text.includes(shown) || holdsApiKey(text));
}

/**
 * Leaves only what the agent may see, and adds its token. Works on the given headers: the proxy reads them from the
 * request. `Expect` goes because the service has answered it already.
 */
export function makeFitForAgent(headers: IncomingHttpHeaders, token: string): void {
  const ofTheKey = new Set(credentials);
  if (isWordToTheAgent(headers)) ofTheKey.delete('authorization');
  for (const name of [...boundToConnection(headers), ...hopByHop, ...ofTheKey, 'expect']) delete headers[name];
  headers[agentTokenHeader] = token;
}

/**
 * Tells the agent where it answers for those who call, which it can't see and has to tell other agents. What callers
 * say of that themselves counts for nothing.
 *
 * @param publicUrl where others reach the service; undefined where its own address is all that is known, so that the
 *   agent goes by `Host`.
 * @param basePath what everything of the service hangs below, where there is no `publicUrl`; may be empty.
 * @param path what stands before the agent's own paths, as in `/agents/<deployment id>`.
 */
export function tellAddress(
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

/**
 * Leaves only what speaks about the agent's answer itself, and never the token, should an agent repeat what it was sent.
 * Its framing stays: it is how the body arrives.
 */
export function makeFitForCaller(headers: IncomingHttpHeaders): void {
  for (const name of [...boundToConnection(headers), ...hopByHop, 'proxy-authenticate', agentTokenHeader])
    delete headers[name];
}
