import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { agentAccessHeader } from '../../../contract/control/session.ts';
import { agentTokenHeader } from './headers.ts';

/** The timeout of a preflight in milliseconds: short, because its callers are not authenticated. */
export const preflightWithinMs = 10_000;

const requested = [
  'host',
  'origin',
  'access-control-request-method',
  'access-control-request-headers',
  'access-control-request-private-network',
];

/**
 * Recognizes a CORS preflight. A browser can't send a key with it, so the agent gets it without authentication. A
 * request with a body or a credential is no preflight.
 */
export function isPreflight({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const isGiven = (name: string): boolean => (headers[name] ?? '') !== '';
  if (method !== 'OPTIONS' || !isGiven('origin') || !isGiven('access-control-request-method')) return false;
  if (isGiven('transfer-encoding') || Number(headers['content-length'] ?? '0') !== 0) return false;
  return !isGiven('x-api-key') && !isGiven('authorization');
}

/** A path without its query, which may contain data. */
export const withoutQuery = (path: string): string => path.split('?')[0] ?? '/';

/** Drops all other headers and adds the agent's token. Mutates the given headers. */
export function preparePreflight(headers: IncomingHttpHeaders, token: string): void {
  for (const name of Object.keys(headers)) if (!requested.includes(name)) delete headers[name];
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

/** Whether a page asks to call an agent with a token of the console, which the agent itself knows nothing of. */
export const namesAccess = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  (headers['access-control-request-headers'] ?? '')
    .split(',')
    .some((name) => name.trim().toLowerCase() === agentAccessHeader);

/** Allows a page of the console to call an agent with its token. */
export function allowAccess({ headers }: Pick<IncomingMessage, 'headers'>, response: ServerResponse): void {
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
