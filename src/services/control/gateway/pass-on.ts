import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { agentResponseHeaders, type Audience } from './response-headers.ts';

/** Records the outcome of one request for an agent. */
export interface RequestRecord {
  /** The response was a 5xx, or incomplete. Several calls count once. */
  failed(): void;
  /** The first event of its response has arrived. */
  firstEvent(): void;
}

/** The record of a request that is not counted. */
export const noRecord: RequestRecord = { failed: () => undefined, firstEvent: () => undefined };

/**
 * Writes the status, the headers and the body of an agent's response; Node.js decides the framing of the body. Trailers
 * and interim responses are not passed on.
 *
 * @throws Error where the agent's response is invalid, and for a redirect of a page of the console. A browser would follow
 *   it with the session and its CSRF token, and with method and body as well for a 307, so that an agent could act on the
 *   service.
 */
export function passOnResponse(
  incoming: IncomingMessage,
  response: ServerResponse,
  { audience, record = noRecord }: { audience: Exclude<Audience, 'ui-file'>; record?: RequestRecord | undefined },
): void {
  const { statusCode: status = 0 } = incoming;
  // Node.js accepts any three digits.
  if (status < 200) throw new Error(`it sent the status ${status}`);
  const isRedirect = status >= 300 && status < 400 && status !== 304;
  if (isRedirect && audience === 'session')
    throw new Error(`it sent a redirect (${status}) to a browser with a session`);
  const { origin } = response.req.headers;
  writeHead(incoming, response, agentResponseHeaders(incoming.headers, audience, origin));
  if (status >= 500) record.failed();
  if (isRunStream(response.req, incoming)) noteFirstEvent(incoming, record);
  // If the response is closed already, the caller has disconnected. Listen before `pipeline`, which closes it.
  incoming.once('error', () => {
    if (!response.closed) record.failed();
  });
  // A failure of either side ends the other.
  pipeline(incoming, response, () => undefined);
}

/** Writes the status and these headers, and flushes them where the body may take long. */
export function writeHead(
  { statusCode: status = 0, headers }: IncomingMessage,
  response: ServerResponse,
  responseHeaders: IncomingHttpHeaders,
): void {
  const { 'transfer-encoding': _, ...headersToSend } = responseHeaders;
  // With a transfer coding, or without a body, a length means nothing.
  if (status === 204 || headers['transfer-encoding'] !== undefined) delete headersToSend['content-length'];
  response.writeHead(status, headersToSend);
  // Send a stream's headers before its first event, which may take long.
  if (headersToSend['content-length'] === undefined) response.flushHeaders();
}

/** Whether a request starts a run and streams its events: other streams may wait for their first event indefinitely. */
function isRunStream({ method, url = '' }: IncomingMessage, { headers }: IncomingMessage): boolean {
  return (
    method === 'POST' &&
    /\/runs\/stream(\?|$)/.test(url) &&
    headers['content-type']?.startsWith('text/event-stream') === true &&
    headers['content-encoding'] === undefined
  );
}

function noteFirstEvent(incoming: IncomingMessage, record: RequestRecord): void {
  const hasStarted = firstEventFinder();
  incoming.on('data', function findEvent(piece: Uint8Array) {
    if (!hasStarted(piece)) return;
    incoming.off('data', findEvent);
    record.firstEvent();
  });
}

/** The most that is kept of an incomplete line: its start is enough to identify the field. */
const maxStartLength = 200;

/**
 * Creates a function that is called with the chunks of an event stream, and returns true once the first event has
 * started. Comments and the event `metadata`, which a server sends before a run starts, do not count.
 */
function firstEventFinder(): (piece: Uint8Array) => boolean {
  const decoder = new TextDecoder();
  let line = '';
  let isMetadata = false;
  const isEventStart = (start: string, isWhole: boolean): boolean => {
    if (start === '') isMetadata = false;
    if (isWhole && start.startsWith('event:')) {
      isMetadata = start.slice('event:'.length).trim() === 'metadata';
      return !isMetadata;
    }
    return start.startsWith('data:') && !isMetadata;
  };
  return (piece) => {
    const lines = (line + decoder.decode(piece, { stream: true })).split('\n');
    line = (lines.pop() ?? '').slice(0, maxStartLength);
    if (lines.some((each) => isEventStart(each.replace(/\r$/, ''), true))) return true;
    return line !== '' && isEventStart(line, false);
  };
}
