import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { firstEventFinder } from './first-event.ts';
import { prepareAgentResponse } from './headers.ts';

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
 * Writes the status, the headers and the body of an agent's response; Node.js decides the framing of the body.
 *
 * @throws Error where the agent's response is invalid.
 */
export function passOn(incoming: IncomingMessage, response: ServerResponse, record: RequestRecord = noRecord): void {
  const { statusCode: status = 0, headers } = incoming;
  prepareAgentResponse(headers);
  // Node.js accepts any three digits.
  if (status < 200) throw new Error(`it sent the status ${status}`);
  // With a transfer coding, or without a body, a length means nothing.
  if (status === 204 || headers['transfer-encoding'] !== undefined) delete headers['content-length'];
  delete headers['transfer-encoding'];
  response.writeHead(status, headers);
  // Send a stream's headers before its first event, which may take long.
  if (headers['content-length'] === undefined) response.flushHeaders();
  if (status >= 500) record.failed();
  if (isRunStream(response.req, incoming)) noteFirstEvent(incoming, record);
  // A response that is closed already is one whose caller has disconnected. Before `pipeline`, which closes it.
  incoming.once('error', () => {
    if (!response.closed) record.failed();
  });
  // A failure of either side ends the other.
  pipeline(incoming, response, () => undefined);
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
