import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { agentAccessHeader } from '../../../contract/control/session.ts';
import { agentTokenHeader } from './headers.ts';

/** The timeout of a preflight in milliseconds: short, because its callers are not authenticated. */
export const preflightTimeoutMs = 10_000;

const preflightHeaders = [
  'host',
  'origin',
  'access-control-request-method',
  'access-control-request-headers',
  'access-control-request-private-network',
];

/**
 * Whether a request is a CORS preflight. A browser can't send a key with it, so it is forwarded without authentication.
 * A request with a body or a credential is not a preflight.
 */
export function isPreflight({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const hasValue = (name: string): boolean => (headers[name] ?? '') !== '';
  if (method !== 'OPTIONS' || !hasValue('origin') || !hasValue('access-control-request-method')) return false;
  if (hasValue('transfer-encoding') || Number(headers['content-length'] ?? '0') !== 0) return false;
  return !hasValue('x-api-key') && !hasValue('authorization');
}

/** A path without its query, which may contain data. */
export const withoutQuery = (path: string): string => path.split('?')[0] ?? '/';

/** Drops all headers but those of a preflight, and adds the agent's token. Mutates the headers. */
export function preparePreflight(headers: IncomingHttpHeaders, token: string): void {
  for (const name of Object.keys(headers)) if (!preflightHeaders.includes(name)) delete headers[name];
  headers[agentTokenHeader] = token;
}

/** Sends only the status and the CORS headers of the agent's response. @throws Error where the response is invalid. */
export function answerPreflight(incoming: IncomingMessage, response: ServerResponse): void {
  const status = incoming.statusCode ?? 0;
  if (status < 200) throw new Error(`it sent the status ${status}`);
  const isCors = ([name]: [string, unknown]): boolean => name.startsWith('access-control-') || name === 'vary';
  const headers = Object.fromEntries(Object.entries(incoming.headers).filter(isCors));
  response.writeHead(status, { ...headers, 'content-length': '0' }).end();
  incoming.destroy();
}

/** Whether a preflight asks to send a token of the console: the service responds, since the agent doesn't know it. */
export const requestsAgentAccess = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  (headers['access-control-request-headers'] ?? '')
    .split(',')
    .some((name) => name.trim().toLowerCase() === agentAccessHeader);

/** Allows a page of the console to call an agent with its token. */
export function allowAgentAccess({ headers }: Pick<IncomingMessage, 'headers'>, response: ServerResponse): void {
  const { origin = '' } = headers;
  response
    .writeHead(204, {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': headers['access-control-request-method'] ?? '',
      'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
      'access-control-max-age': '600',
      vary: 'origin, access-control-request-method, access-control-request-headers',
    })
    .end();
}
