import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { agentTokenHeader } from './headers.ts';

/** Milliseconds until an agent has to answer a preflight: nobody who waits has shown a key. */
export const preflightWithinMs = 10_000;

/** All that a browser asks by a preflight. */
const requested = [
  'host',
  'origin',
  'access-control-request-method',
  'access-control-request-headers',
  'access-control-request-private-network',
];

/**
 * Whether a request is a browser's question whether a page of another origin may call. A browser can't show a key with
 * it, so that the agent is asked without one. It holds no data: whatever has a body, or shows a credential, is a request
 * like any other.
 */
export function isPreflight({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const isGiven = (name: string): boolean => (headers[name] ?? '') !== '';
  if (method !== 'OPTIONS' || !isGiven('origin') || !isGiven('access-control-request-method')) return false;
  if (isGiven('transfer-encoding') || Number(headers['content-length'] ?? '0') !== 0) return false;
  return !isGiven('x-api-key') && !isGiven('authorization');
}

/** A path without its query, in which there may be data. */
export const withoutQuery = (path: string): string => path.split('?')[0] ?? '/';

/** Leaves nothing but the question, and adds the agent's token. Works on the given headers. */
export function makeFitForQuestion(headers: IncomingHttpHeaders, token: string): void {
  for (const name of Object.keys(headers)) if (!requested.includes(name)) delete headers[name];
  headers[agentTokenHeader] = token;
}

/**
 * Tells a browser what the agent answered, which is its word about pages and nothing else of it.
 *
 * @throws Error where the agent sent what no response may have.
 */
export function answerPreflight(incoming: IncomingMessage, response: ServerResponse): void {
  const status = incoming.statusCode ?? 0;
  if (status < 200) throw new Error(`it sent the status ${status}`);
  const words = Object.entries(incoming.headers).filter(
    ([name]) => name.startsWith('access-control-') || name === 'vary',
  );
  response.writeHead(status, { ...Object.fromEntries(words), 'content-length': '0' }).end();
  incoming.destroy();
}
