import type { IncomingHttpHeaders } from 'node:http';

/** The header by which an agent's process knows that a request came through the gateway. */
export const agentTokenHeader = 'x-landfall-agent-token';

/** They speak about one connection, not about the message. */
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'];

/** What a caller shows to be let in: it is for the service and none of the agent's business. */
const credentials = ['x-api-key', 'x-tenant-id', 'authorization', 'proxy-authorization', agentTokenHeader];

/** They say where the body ends; a caller may not have them dropped by naming them in `Connection`. */
const framing = new Set(['host', 'content-length', 'transfer-encoding']);

/** Names that the sender of a message bound to its own connection. */
function boundToConnection(headers: IncomingHttpHeaders): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return named.filter((name) => name !== '' && !framing.has(name));
}

/**
 * Whether `Authorization` is a word to the agent, whose own rules may ask for it: it is where the key stands in
 * `X-Api-Key`. The key itself never is, however often it is sent.
 */
function isWordToTheAgent({ 'x-api-key': key, authorization = '' }: IncomingHttpHeaders): boolean {
  const shown = typeof key === 'string' ? key.trim() : '';
  return shown !== '' && !authorization.includes(shown);
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

/** The header in which whoever stands in front says what it takes away from the beginning of a path. */
const prefixHeader = 'x-forwarded-prefix';

/**
 * Tells the agent what its paths begin with for those who call: it can't see that, and has to tell other agents where it
 * answers. What somebody before us took away stands before it.
 */
export function tellPrefix(headers: IncomingHttpHeaders, prefix: string): void {
  const outer = headers[prefixHeader];
  headers[prefixHeader] = `${typeof outer === 'string' ? outer.replace(/\/+$/, '') : ''}${prefix}`;
}

/** Leaves only what speaks about the agent's answer itself. Its framing stays: it is how the body arrives. */
export function makeFitForCaller(headers: IncomingHttpHeaders): void {
  for (const name of [...boundToConnection(headers), ...hopByHop, 'proxy-authenticate']) delete headers[name];
}
