import { extname } from 'node:path';
import { pipeline } from 'node:stream';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { gatewayErrors, sendGatewayError } from './gateway-error.ts';
import { agentTokenHeader } from './headers.ts';
import { writeHeadOf } from './pass-on.ts';
import { agentResponseHeaders } from './response-headers.ts';
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

/** How a browser uses the file: by a tag or by `fetch`. Never as a page, a frame or a worker, which would run it. */
const uses: readonly (string | undefined)[] = [undefined, 'script', 'style', 'empty'];

/** Whether a browser requests a file of an agent's UI for what it is. */
export const isUseOfUiFile = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  // Older browsers name no destination, but all of them mark the script of a service worker.
  headers['service-worker'] === undefined && uses.includes(headers['sec-fetch-dest']?.toString());

/** The types by extension: what the agent says could make a page of the file. */
const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Sends a file of an agent's UI as what its name says. @throws Error where the response is no file and no 404. */
export function passOnUiFile(incoming: IncomingMessage, response: ServerResponse): void {
  const { statusCode: status = 0 } = incoming;
  if (status >= 400 && status < 500) {
    incoming.destroy();
    return sendGatewayError(response, gatewayErrors.noUiFile);
  }
  if (status !== 200) throw new Error(`it sent the status ${status} for a file of its UI`);
  const type = types[extname(withoutQuery(response.req.url ?? ''))] ?? 'text/plain';
  writeHeadOf(incoming, response, { ...agentResponseHeaders(incoming.headers, 'ui-file'), 'content-type': type });
  // A failure of either side ends the other.
  pipeline(incoming, response, () => undefined);
}
