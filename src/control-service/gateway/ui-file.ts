import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { agentTokenHeader } from './headers.ts';
import { withoutQuery } from './preflight.ts';

/** The path of a script or style sheet of an agent's UI, also below a mount prefix of the agent. */
const uiFile = /^(?:\/[^/]+)*\/ui\/[^/]+\/entrypoint\.(?:js|css)$/;

/**
 * Recognizes a request for a file of an agent's UI. Pages load them by tags, which can't send a key, so the agent gets
 * it without authentication, as on the public service. A request with a body or a key is none.
 */
export function isUiFile({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if ((headers['x-api-key'] ?? headers.authorization ?? '') !== '') return false;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? '0') !== 0;
  return !hasBody && uiFile.test(withoutQuery(path));
}

const passedOn = ['host', 'origin', 'accept', 'accept-encoding'];

/** Marks a request without a key, to which the agent's server responds with nothing but files of a UI. */
const withoutKeyHeader = 'x-landfall-without-key';

/** Drops all other headers and adds the agent's token. Mutates the given headers. */
export function prepareUiFile(headers: IncomingHttpHeaders, token: string): void {
  for (const name of Object.keys(headers)) if (!passedOn.includes(name)) delete headers[name];
  headers[agentTokenHeader] = token;
  headers[withoutKeyHeader] = 'true';
}
