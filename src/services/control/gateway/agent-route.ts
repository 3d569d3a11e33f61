import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as openRequest,
  type OutgoingHttpHeaders,
  validateHeaderValue,
} from 'node:http';
import { steadyNow, type Clock } from '../../../kit/clock.ts';
import { prepareAgentRequest } from './headers.ts';
import type { Audience } from './response-headers.ts';
import { answerPreflight, preparePreflight, preflightTimeoutMs, withoutQuery } from './preflight.ts';
import { passOnUiFile, prepareUiFile } from './ui-file.ts';
import { pipeline } from 'node:stream';
import { messageOf } from '../../../kit/errors.ts';
import { noRecord, passOnResponse, type RequestRecord } from './pass-on.ts';
import { addressOf, type Upstream } from './request-agent.ts';
import { gatewayErrors, sendGatewayError, type GatewayError } from './gateway-error.ts';
import type { Logger } from '../../../kit/logger.ts';
import type { Socket } from 'node:net';

/** A request for a WebSocket: its connection, and the bytes that the client has sent after the request. */
export interface UpgradeRequest {
  connection: Socket;
  head: Buffer;
}

interface SendOptions {
  record: RequestRecord;
  /** Sent by a page without its user: the agent still counts as idle once it is answered. */
  isInBackground?: boolean;
  upgrade?: UpgradeRequest | undefined;
}

interface RouteDependencies {
  clock: Clock;
  log: Logger;
  answerWithinMs: number;
}

/** How long (ms) connections stay open: shorter than the agents' keep-alive, because a request on a closing one is lost. */
const idleMs = 4_000;

/** The route to one process of an agent, with a count of its requests. */
export function openRoute(upstream: Upstream, { clock, log, answerWithinMs }: RouteDependencies) {
  const { origin } = upstream;
  const connections = new Agent({ keepAlive: true, maxSockets: Infinity, timeout: idleMs });
  let inFlight = 0;
  /** Those of anybody without a key, who must not keep an agent from being idle, however slowly they read. */
  let inFlightWithoutKey = 0;
  let noneInFlight = Promise.withResolvers<void>();
  const webSockets = new Set<Socket>();
  let lastUse = steadyNow(clock);
  const use = (): void => void (lastUse = steadyNow(clock));

  async function forwardCounted(
    request: IncomingMessage,
    response: ServerResponse,
    {
      record = noRecord,
      isInBackground = false,
      isWithoutKey = false,
      ...options
    }: Pick<Forwarding, 'respond' | 'withinMs' | 'upgrade'> & {
      record?: RequestRecord;
      isInBackground?: boolean;
      isWithoutKey?: boolean;
    },
  ): Promise<void> {
    inFlight += 1;
    if (isWithoutKey) inFlightWithoutKey += 1;
    const onFailure = (reason: string): void => {
      record.failed();
      log.error(`An agent at ${origin} failed: ${reason}`);
    };
    const onWebSocket = (connection: Socket): void => {
      webSockets.add(connection);
      connection.once('close', () => {
        webSockets.delete(connection);
        use();
      });
    };
    await forward(request, response, { ...options, origin, connections, onWebSocket, clock, onFailure });
    inFlight -= 1;
    if (isWithoutKey) inFlightWithoutKey -= 1;
    if (!isInBackground && !isWithoutKey) use();
    if (inFlight > 0) return;
    noneInFlight.resolve();
    noneInFlight = Promise.withResolvers();
  }

  const forwardWithoutKey =
    (prepare: (headers: IncomingHttpHeaders, token: string) => void, respond: Forwarding['respond']) =>
    (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
      prepare(request.headers, upstream.token);
      request.url = withoutQuery(path);
      return forwardCounted(request, response, {
        respond,
        withinMs: Math.min(preflightTimeoutMs, answerWithinMs),
        isWithoutKey: true,
      });
    };

  return {
    upstream,
    /** The number of open requests, including streams. WebSockets don't count: their clients reconnect by themselves. */
    inFlight: () => inFlight,
    /** When the last use ended (ms, `steadyNow`); undefined while a request with a key or a WebSocket is open. */
    idleSince: () => (inFlight - inFlightWithoutKey + webSockets.size > 0 ? undefined : lastUse),
    /** Resolves when nothing is in flight. */
    drained: (): Promise<void> => (inFlight === 0 ? Promise.resolve() : noneInFlight.promise),
    /** Closes the connections, and cuts off requests in flight and WebSockets. */
    close: () => {
      connections.destroy();
      for (const connection of webSockets) connection.destroy();
    },
    send(
      request: IncomingMessage,
      response: ServerResponse,
      path: string,
      { record, upgrade, audience, isInBackground = false }: SendOptions & { audience: Exclude<Audience, 'ui-file'> },
    ): Promise<void> {
      prepareAgentRequest(request.headers, upstream.token, { bySession: audience === 'session' });
      request.url = path;
      // A short timeout: agents answer a handshake at once, and a client that disconnects during one is not noticed.
      const withinMs = upgrade ? Math.min(preflightTimeoutMs, answerWithinMs) : answerWithinMs;
      const respond: Forwarding['respond'] = (incoming, outgoing) =>
        passOnResponse(incoming, outgoing, { audience, record });
      return forwardCounted(request, response, { respond, withinMs, upgrade, record, isInBackground });
    },
    /** Forwards a CORS preflight of any caller; only the status and the CORS headers are returned. */
    sendPreflight: forwardWithoutKey(preparePreflight, answerPreflight),
    /** Forwards a request of any caller for a file of the agent's UI. */
    sendUiFile: forwardWithoutKey(prepareUiFile, passOnUiFile),
  };
}

export type OpenRoute = ReturnType<typeof openRoute>;
/** A route that gets no new requests. */
export type AgentRoute = Omit<OpenRoute, 'send' | 'sendPreflight' | 'sendUiFile' | 'idleSince'>;

interface Forwarding {
  origin: string;
  connections: Agent;
  /** Called with the connection of a WebSocket when it opens. */
  onWebSocket: (connection: Socket) => void;
  /** Present where the request asks for a WebSocket. */
  upgrade?: UpgradeRequest | undefined;
  withinMs: number;
  clock: Clock;
  /** Writes the agent's response to the caller; throws to reject it. */
  respond: (incoming: IncomingMessage, response: ServerResponse) => void;
  onFailure: (reason: string) => void;
}

/**
 * Forwards a request and its response unchanged, as streams; aborts when the caller disconnects. Resolves when the
 * response is closed or has become a WebSocket. Never rejects: sends an error response, or cuts off one that has begun.
 */
function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { origin, connections, onWebSocket, upgrade, withinMs, clock, respond, onFailure }: Forwarding,
): Promise<void> {
  if (response.closed) return Promise.resolve();
  const done = Promise.withResolvers<void>();
  response.once('close', done.resolve);
  const responseBegan = new AbortController();
  let hasResponded = false;
  const fail = (refusal: GatewayError, reason: string): void => {
    if (hasResponded || response.closed) return;
    hasResponded = true;
    onFailure(reason);
    sendGatewayError(response, refusal);
  };
  const failBroken = (error: unknown): void => fail(gatewayErrors.broken, messageOf(error));
  // An error of the caller closes the response as well.
  for (const stream of [request, response]) stream.on('error', () => undefined);
  try {
    const { method, url: path, headers } = request;
    const sentHeaders = { ...headers, ...(upgrade ? upgradeHeaders : framing(request)) };
    const outgoing = openRequest({ ...addressOf(origin), agent: connections, method, path, headers: sentHeaders });
    outgoing.on('error', failBroken);
    outgoing.on('response', (incoming) => {
      if (hasResponded) return void incoming.destroy();
      responseBegan.abort();
      try {
        respond(incoming, response);
        hasResponded = true;
      } catch (error) {
        failBroken(error);
        incoming.destroy();
      }
      // An agent may respond before it has read the whole request, and then stops reading.
      incoming.once('close', () => {
        if (!outgoing.writableFinished) outgoing.destroy();
      });
    });
    outgoing.on('upgrade', (incoming, agentConnection, agentHead) => {
      if (!upgrade || hasResponded) return void agentConnection.destroy();
      let responseHead: string;
      try {
        responseHead = upgradeHead(incoming);
      } catch (error) {
        agentConnection.destroy();
        return failBroken(error);
      }
      hasResponded = true;
      responseBegan.abort();
      const { connection, head } = upgrade;
      response.detachSocket(connection);
      onWebSocket(connection);
      done.resolve();
      connection.write(responseHead);
      connection.write(agentHead);
      agentConnection.write(head);
      // The end of either side ends the other.
      pipeline(agentConnection, connection, () => agentConnection.destroy());
      pipeline(connection, agentConnection, () => connection.destroy());
    });
    outgoing.on('close', () => {
      // An upgrade that was not requested ends here without an error.
      failBroken('it closed the connection');
      request.unpipe(outgoing).resume();
    });
    response.once('close', () => {
      responseBegan.abort();
      if (!response.writableFinished) outgoing.destroy();
    });
    const giveUp = (): void => {
      if (responseBegan.signal.aborted) return;
      fail(gatewayErrors.late, 'it did not begin a response in time');
      outgoing.destroy();
    };
    void clock.sleep(withinMs, responseBegan.signal).then(giveUp, () => undefined);
    if (upgrade) outgoing.end();
    else request.pipe(outgoing);
  } catch (error) {
    failBroken(error);
  }
  return done.promise;
}

/** The headers that frame a request's body for the agent: only its length, or chunked encoding. */
function framing({ method, headers }: IncomingMessage): OutgoingHttpHeaders {
  if (headers['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' };
  if (headers['content-length'] !== undefined || method === 'GET' || method === 'HEAD') return {};
  return { 'content-length': '0' };
}

/** The hop-by-hop headers that ask for a WebSocket. */
const upgradeHeaders = { connection: 'Upgrade', upgrade: 'websocket' };

/**
 * The head of the response that begins a WebSocket, with only the headers that belong to it: a browser would apply
 * others to the origin of the service. @throws Error for a value with a line break.
 */
export function upgradeHead({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const webSocketHeaders = Object.entries(headers).filter(([name]) =>
    /^sec-websocket-(?:accept|extensions|protocol)$/.test(name),
  );
  const lines = [...webSocketHeaders, ...Object.entries(upgradeHeaders)].map(([name, value]) => {
    validateHeaderValue(name, String(value));
    return `${name}: ${String(value)}`;
  });
  return ['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n');
}
