import { extname } from 'node:path';
import { pipeline } from 'node:stream';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { gatewayErrors, sendGatewayError } from './gateway-error.ts';
import { agentTokenHeader } from './headers.ts';
import { writeHead } from './pass-on.ts';
import { agentResponseHeaders } from './response-headers.ts';
import { withoutQuery } from './preflight.ts';

/** The path of a script or style sheet of an agent's UI, also below a mount prefix of the agent. */
const uiFilePath = /^(?:\/[^/]+)*\/ui\/[^/]+\/entrypoint\.(?:js|css)$/;

/**
 * Whether a request is for a file of an agent's UI. Pages load these by tags, which can't send a key, so requests are
 * forwarded without authentication, as on the public service. A request with a body or a key is not one.
 */
export function isUiFile({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if ((headers['x-api-key'] ?? headers.authorization ?? '') !== '') return false;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? '0') !== 0;
  return !hasBody && uiFilePath.test(withoutQuery(path));
}

const forwardedHeaders = ['host', 'origin', 'accept', 'accept-encoding'];

/** Marks a request without a key: the agent's server then responds only with files of a UI. */
const withoutKeyHeader = 'x-landfall-without-key';

/** Drops all headers but the forwarded ones, and adds the agent's token. Mutates the headers. */
export function prepareUiFile(headers: IncomingHttpHeaders, token: string): void {
  for (const name of Object.keys(headers)) if (!forwardedHeaders.includes(name)) delete headers[name];
  headers[agentTokenHeader] = token;
  headers[withoutKeyHeader] = 'true';
}

/** The allowed destinations of a UI file: a tag or `fetch`. Not a page, a frame or a worker, which would run it. */
const allowedDestinations: readonly (string | undefined)[] = [undefined, 'script', 'style', 'empty'];

/** Whether a browser requests a UI file for an allowed destination. */
export const hasUiDestination = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  // Older browsers send no destination, but all browsers mark the script of a service worker.
  headers['service-worker'] === undefined && allowedDestinations.includes(headers['sec-fetch-dest']?.toString());

/** The content types by extension. The agent's own type is ignored: it could turn the file into a page. */
const typesByExtension: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Sends a UI file with the type of its extension, and a 404 for a 4xx. @throws Error for any other status than 200. */
export function passOnUiFile(incoming: IncomingMessage, response: ServerResponse): void {
  const { statusCode: status = 0 } = incoming;
  if (status >= 400 && status < 500) {
    incoming.destroy();
    return sendGatewayError(response, gatewayErrors.noUiFile);
  }
  if (status !== 200) throw new Error(`it sent the status ${status} for a file of its UI`);
  const type = typesByExtension[extname(withoutQuery(response.req.url ?? ''))] ?? 'text/plain';
  writeHead(incoming, response, { ...agentResponseHeaders(incoming.headers, 'ui-file'), 'content-type': type });
  // A failure of either side ends the other.
  pipeline(incoming, response, () => undefined);
}
