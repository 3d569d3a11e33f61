import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { agentResponseHeaders, type Audience } from './response-headers.ts';

/** Counts what becomes of one request for an agent. */
export interface RequestRecord {
  /** It got a 5xx, or no whole response. Counts once. */
  failed(): void;
  /** The first event of its response has arrived. */
  firstEvent(): void;
}

/** A record of a request that is not counted. */
export const noRecord: RequestRecord = { failed: () => undefined, firstEvent: () => undefined };

/**
 * Writes the status, the headers and the body of an agent's response; Node.js decides the framing of the body. Trailers
 * and interim responses are not passed on.
 *
 * @throws Error where the agent's response is invalid, and for a redirect of a page of the console. A browser would follow
 *   it with the session and its CSRF token, and with method and body as well for a 307, so that an agent could act on the
 *   service.
 */
export function passOn(
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
  writeHeadOf(incoming, response, agentResponseHeaders(incoming.headers, audience, origin));
  if (status >= 500) record.failed();
  if (isRunStream(response.req, incoming)) noteFirstEvent(incoming, record);
  // A response that is closed already is one whose caller has disconnected. Before `pipeline`, which closes it.
  incoming.once('error', () => {
    if (!response.closed) record.failed();
  });
  // A failure of either side ends the other.
  pipeline(incoming, response, () => undefined);
}

/** Writes the status and the headers given, and flushes them where the body may take long. */
export function writeHeadOf(
  { statusCode: status = 0, headers }: IncomingMessage,
  response: ServerResponse,
  given: IncomingHttpHeaders,
): void {
  const { 'transfer-encoding': _, ...sent } = given;
  // With a transfer coding, or without a body, a length means nothing.
  if (status === 204 || headers['transfer-encoding'] !== undefined) delete sent['content-length'];
  response.writeHead(status, sent);
  // Send a stream's headers before its first event, which may take long.
  if (sent['content-length'] === undefined) response.flushHeaders();
}

/** Whether a request starts a run and streams its events: other streams may wait for an event for any time. */
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
  incoming.on('data', function look(piece: Uint8Array) {
    if (!hasStarted(piece)) return;
    incoming.off('data', look);
    record.firstEvent();
  });
}

/** The most that is kept of an incomplete line: its start is enough to identify the field. */
const maxStartLength = 200;

/**
 * Makes the function that gets the pieces of an event stream and returns true once the first event has started. Comments
 * and the event `metadata`, which a server sends before a run starts, do not count.
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
