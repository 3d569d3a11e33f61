import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as openRequest,
  type OutgoingHttpHeaders,
  validateHeaderValue,
} from 'node:http';
import type { Clock } from '../../../kit/clock.ts';
import { prepareAgentRequest } from './headers.ts';
import type { Audience } from './response-headers.ts';
import { answerPreflight, preparePreflight, preflightWithinMs, withoutQuery } from './preflight.ts';
import { passOnUiFile, prepareUiFile } from './ui-file.ts';
import { pipeline } from 'node:stream';
import { messageOf } from '../../../kit/errors.ts';
import { noRecord, passOn, type RequestRecord } from './pass-on.ts';
import { addressOf, type Upstream } from './request-agent.ts';
import { gatewayErrors, sendGatewayError, type GatewayError } from './gateway-error.ts';
import type { Logger } from '../../../kit/logger.ts';
import type { Socket } from 'node:net';

/** A request for a WebSocket: its connection, and what the client has sent after the request. */
export interface UpgradeRequest {
  connection: Socket;
  head: Buffer;
}

interface SendOptions {
  record: RequestRecord;
  upgrade?: UpgradeRequest | undefined;
}

interface RouteDependencies {
  clock: Clock;
  log: Logger;
  answerWithinMs: number;
}

/** Shorter (ms) than the keep-alive of servers: a request on a connection that is being closed would be lost. */
const idleMs = 4_000;

/** The route to one process of an agent, with a count of its requests. */
export function openRoute(upstream: Upstream, { clock, log, answerWithinMs }: RouteDependencies) {
  const { origin } = upstream;
  const connections = new Agent({ keepAlive: true, maxSockets: Infinity, timeout: idleMs });
  let inFlight = 0;
  let idle = Promise.withResolvers<void>();
  const webSockets = new Set<Socket>();

  async function pass(
    request: IncomingMessage,
    response: ServerResponse,
    { record = noRecord, ...how }: Pick<Forwarding, 'respond' | 'withinMs' | 'upgrade'> & { record?: RequestRecord },
  ): Promise<void> {
    inFlight += 1;
    const onFailure = (reason: string): void => {
      record.failed();
      log.error(`An agent at ${origin} failed: ${reason}`);
    };
    await forward(request, response, { ...how, origin, connections, webSockets, clock, onFailure });
    inFlight -= 1;
    if (inFlight > 0) return;
    idle.resolve();
    idle = Promise.withResolvers();
  }

  const passWithoutKey =
    (prepare: (headers: IncomingHttpHeaders, token: string) => void, respond: Forwarding['respond']) =>
    (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
      prepare(request.headers, upstream.token);
      request.url = withoutQuery(path);
      return pass(request, response, { respond, withinMs: Math.min(preflightWithinMs, answerWithinMs) });
    };

  return {
    upstream,
    /** The number of open requests, including streams. A WebSocket is none: its client connects again by itself. */
    inFlight: () => inFlight,
    /** Resolves when nothing is in flight. */
    drained: (): Promise<void> => (inFlight === 0 ? Promise.resolve() : idle.promise),
    /** Closes the connections; requests in flight and WebSockets are cut. */
    close: () => {
      connections.destroy();
      for (const connection of webSockets) connection.destroy();
    },
    send(
      request: IncomingMessage,
      response: ServerResponse,
      path: string,
      { record, upgrade, audience }: SendOptions & { audience: Exclude<Audience, 'ui-file'> },
    ): Promise<void> {
      prepareAgentRequest(request.headers, upstream.token, { bySession: audience === 'session' });
      request.url = path;
      // A handshake answers at once, and a client that leaves during one is not noticed.
      const withinMs = upgrade ? Math.min(preflightWithinMs, answerWithinMs) : answerWithinMs;
      const respond: Forwarding['respond'] = (incoming, outgoing) => passOn(incoming, outgoing, { audience, record });
      return pass(request, response, { respond, withinMs, upgrade, record });
    },
    /** Forwards a CORS preflight from any caller: only status and CORS headers come back. */
    sendPreflight: passWithoutKey(preparePreflight, answerPreflight),
    /** Forwards a request of any caller for a file of the agent's UI. */
    sendUiFile: passWithoutKey(prepareUiFile, passOnUiFile),
  };
}

export type OpenRoute = ReturnType<typeof openRoute>;
/** A route that gets no new requests. */
export type AgentRoute = Omit<OpenRoute, 'send' | 'sendPreflight' | 'sendUiFile'>;

interface Forwarding {
  origin: string;
  connections: Agent;
  /** The open WebSockets of the route. */
  webSockets: Set<Socket>;
  /** Where the request asks for a WebSocket. */
  upgrade?: UpgradeRequest | undefined;
  withinMs: number;
  clock: Clock;
  /** Writes the agent's response to the caller; may throw, which rejects it. */
  respond: (incoming: IncomingMessage, response: ServerResponse) => void;
  onFailure: (reason: string) => void;
}

/**
 * Forwards a request and its response unchanged, as streams; a caller that disconnects aborts. Resolves when the
 * response is closed or has become a WebSocket, and never rejects: what can't be forwarded becomes an error response,
 * or is cut.
 */
function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { origin, connections, webSockets, upgrade, withinMs, clock, respond, onFailure }: Forwarding,
): Promise<void> {
  if (response.closed) return Promise.resolve();
  const done = Promise.withResolvers<void>();
  response.once('close', done.resolve);
  const over = new AbortController();
  let started = false;
  const fail = (refusal: GatewayError, reason: string): void => {
    if (started || response.closed) return;
    started = true;
    onFailure(reason);
    sendGatewayError(response, refusal);
  };
  const broken = (error: unknown): void => fail(gatewayErrors.broken, messageOf(error));
  // An error of the caller closes the response as well.
  for (const stream of [request, response]) stream.on('error', () => undefined);
  try {
    const { method, url: path, headers } = request;
    const framed = { ...headers, ...(upgrade ? upgradeHeaders : framing(request)) };
    const outgoing = openRequest({ ...addressOf(origin), agent: connections, method, path, headers: framed });
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
    outgoing.on('upgrade', (incoming, agentConnection, agentHead) => {
      if (!upgrade || started) return void agentConnection.destroy();
      let answered: string;
      try {
        answered = upgradeHead(incoming);
      } catch (error) {
        agentConnection.destroy();
        return broken(error);
      }
      started = true;
      over.abort();
      const { connection, head } = upgrade;
      response.detachSocket(connection);
      webSockets.add(connection);
      connection.once('close', () => webSockets.delete(connection));
      done.resolve();
      connection.write(answered);
      connection.write(agentHead);
      agentConnection.write(head);
      // The end of either side ends the other.
      pipeline(agentConnection, connection, () => agentConnection.destroy());
      pipeline(connection, agentConnection, () => connection.destroy());
    });
    outgoing.on('close', () => {
      // An upgrade that was not requested ends here without an error.
      broken('it closed the connection');
      request.unpipe(outgoing).resume();
    });
    response.once('close', () => {
      over.abort();
      if (!response.writableFinished) outgoing.destroy();
    });
    const giveUp = (): void => {
      if (over.signal.aborted) return;
      fail(gatewayErrors.late, 'it did not begin a response in time');
      outgoing.destroy();
    };
    void clock.sleep(withinMs, over.signal).then(giveUp, () => undefined);
    if (upgrade) outgoing.end();
    else request.pipe(outgoing);
  } catch (error) {
    broken(error);
  }
  return done.promise;
}

/** The framing of a request's body for the agent: its length, or chunks, and nothing else. */
function framing({ method, headers }: IncomingMessage): OutgoingHttpHeaders {
  if (headers['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' };
  if (headers['content-length'] !== undefined || method === 'GET' || method === 'HEAD') return {};
  return { 'content-length': '0' };
}

/** The headers of one connection that ask for a WebSocket. */
const upgradeHeaders = { connection: 'Upgrade', upgrade: 'websocket' };

/**
 * The head of the response that begins a WebSocket, with the headers that belong to it: a browser would apply others to
 * the origin of the service. @throws Error for a value that would not stay in its line.
 */
export function upgradeHead({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const own = Object.entries(headers).filter(([name]) => /^sec-websocket-(?:accept|extensions|protocol)$/.test(name));
  const lines = [...own, ...Object.entries(upgradeHeaders)].map(([name, value]) => {
    validateHeaderValue(name, String(value));
    return `${name}: ${String(value)}`;
  });
  return ['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n');
}
