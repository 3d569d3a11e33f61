import {
  request as openRequest,
  type Agent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream';
import { messageOf } from '../../errors.ts';
import type { Clock } from '../../clock.ts';
import { addressOf } from './request-agent.ts';
import { makeFitForCaller } from './headers.ts';
import { refusals, refuse, type Refusal } from './refusal.ts';

/** The target of a request, and its timeout. */
export interface Forwarding {
  /** `http://<host>:<port>`, or `unix:<path>`. */
  origin: string;
  connections: Agent;
  /** The timeout of the response's start, in milliseconds. */
  withinMs: number;
  clock: Clock;
  /** Writes the agent's response to the caller; may throw, which rejects it. */
  respond: (incoming: IncomingMessage, response: ServerResponse) => void;
  /** Called with the reason when the agent failed. */
  onFailure: (reason: string) => void;
}

/**
 * Forwards a request and its response unchanged. Bodies are streamed both ways, unread and never decompressed; a caller
 * that disconnects aborts the request to the agent.
 *
 * Resolves when the response is closed, and never rejects or throws, whatever the agent sends: a response that can't be
 * forwarded becomes an error response, and one that has started is cut.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { origin, connections, withinMs, clock, respond, onFailure }: Forwarding,
): Promise<void> {
  if (response.closed) return Promise.resolve();
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  const over = new AbortController();
  let started = false;
  const fail = (refusal: Refusal, reason: string): void => {
    if (started || response.closed) return;
    started = true;
    onFailure(reason);
    refuse(response, refusal);
  };
  const broken = (error: unknown): void => fail(refusals.broken, messageOf(error));
  // An error of the caller closes the response as well.
  for (const stream of [request, response]) stream.on('error', () => undefined);
  try {
    const { method, url: path, headers } = request;
    const outgoing = openRequest({
      ...addressOf(origin),
      agent: connections,
      method,
      path,
      headers: { ...headers, ...framing(request) },
    });
    outgoing.on('error', broken);
    outgoing.on('response', (incoming) => {
      if (started) return void incoming.destroy();
      over.abort();
      try {
        respond(incoming, response);
        started = true;
      } catch (error) {
        broken(error);
        incoming.destroy();
      }
      // An agent may respond before it has read the whole request, and then stops reading.
      incoming.once('close', () => {
        if (!outgoing.writableFinished) outgoing.destroy();
      });
    });
    outgoing.on('close', () => {
      // A protocol upgrade ends here without an error.
      broken('it closed the connection');
      request.unpipe(outgoing).resume();
    });
    response.once('close', () => {
      over.abort();
      if (!response.writableFinished) outgoing.destroy();
    });
    const giveUp = (): void => {
      if (over.signal.aborted) return;
      fail(refusals.late, 'it did not begin a response in time');
      outgoing.destroy();
    };
    void clock.sleep(withinMs, over.signal).then(giveUp, () => undefined);
    request.pipe(outgoing);
  } catch (error) {
    broken(error);
  }
  return closed;
}

/** The framing of a request's body for the agent: its length, or chunks, and nothing else. */
function framing({ method, headers }: IncomingMessage): OutgoingHttpHeaders {
  if (headers['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' };
  if (headers['content-length'] !== undefined || method === 'GET' || method === 'HEAD') return {};
  return { 'content-length': '0' };
}

/**
 * Writes the status, the headers and the body of an agent's response. Drops the reason phrase, which carries no
 * information (RFC 9112, section 4); Node.js decides the framing of the body.
 *
 * @throws Error where the agent's response is invalid.
 */
export function passOn(incoming: IncomingMessage, response: ServerResponse): void {
  const { statusCode: status = 0, headers } = incoming;
  makeFitForCaller(headers);
  // Node.js accepts any three digits.
  if (status < 200) throw new Error(`it sent the status ${status}`);
  // With a transfer coding, or without a body, a length means nothing.
  if (status === 204 || headers['transfer-encoding'] !== undefined) delete headers['content-length'];
  delete headers['transfer-encoding'];
  response.writeHead(status, headers);
  // Send a stream's headers before its first event, which may take long.
  if (headers['content-length'] === undefined) response.flushHeaders();
  // A failure of either side ends the other.
  pipeline(incoming, response, () => undefined);
}
