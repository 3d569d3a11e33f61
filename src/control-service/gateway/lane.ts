import { Agent, Server, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { ProxyServer } from 'httpxy';
import type { Clock } from '../../clock.ts';
import { makeFitForAgent, makeFitForCaller } from './headers.ts';
import { answerPreflight, makeFitForQuestion, preflightWithinMs, withoutQuery } from './preflight.ts';
import { refusals, refuse } from './refusal.ts';

/** Where an agent's process listens, and the token that every request to it has to carry. */
export interface Upstream {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  token: string;
}

/** The way to one process of an agent, with a count of the requests on it. */
export interface Lane {
  readonly upstream: Upstream;
  /** Requests, streams among them, that have not ended. */
  inFlight(): number;
  /** Resolves when nothing is in flight. */
  drained(): Promise<void>;
  /** Lets go of the connections; requests in flight are cut. */
  close(): void;
}

/** A lane that the gateway sends requests on. */
export interface OpenLane extends Lane {
  /** Sends a request on. `path` is what the agent is to see. Never rejects: what goes wrong is told to the caller. */
  send(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
  /** Asks the agent a browser's question, whoever sends it: its word about pages is all that comes back. */
  sendPreflight(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
}

export interface LaneSettings {
  clock: Clock;
  log: (message: string) => void;
  /** Milliseconds until the process has to begin an answer. */
  answerWithinMs: number;
}

/**
 * How long an idle connection to an agent is kept, in milliseconds: shorter than servers keep one, for a request on a
 * connection that is just being closed from there would be lost. A connection that is in use may be quiet for longer.
 */
const idleMs = 4_000;

/** How long our own server keeps the connection of a caller that idles, in seconds; 0 where it says nothing of it. */
function idleSecondsOf({ req: { socket } }: ServerResponse): number {
  const server: unknown = 'server' in socket ? socket.server : undefined;
  return server instanceof Server ? Math.floor(server.keepAliveTimeout / 1_000) : 0;
}

/**
 * Opens the way to a process. Bodies flow both ways as they come, unread and never decompressed; a caller that goes away
 * ends the request at the agent too.
 */
export function openLane(upstream: Upstream, { clock, log, answerWithinMs }: LaneSettings): OpenLane {
  const connections = new Agent({ keepAlive: true, maxSockets: Infinity, timeout: idleMs });
  const proxy = new ProxyServer({ target: upstream.origin, agent: connections });
  const answering = new WeakMap<
    IncomingMessage,
    { answered: AbortController; withinMs: number; isQuestion: boolean }
  >();
  let inFlight = 0;
  let waiting: (() => void)[] = [];

  proxy.on('proxyReq', (outgoing, request, response) => {
    const sent = answering.get(request);
    if (sent) void giveUpAfter(sent.withinMs, outgoing, response, sent.answered.signal);
    // An answer that asks for another protocol ends the connection without an error.
    outgoing.once('close', () => {
      if (!response.headersSent) refuse(response, refusals.broken);
    });
  });
  proxy.on('proxyRes', (incoming, request, response) => {
    const sent = answering.get(request);
    sent?.answered.abort();
    // Node.js reads any three digits, and writes only those of an answer: what it throws then is nobody's to catch.
    if ((incoming.statusCode ?? 0) < 200) {
      refuse(response, refusals.broken);
      incoming.destroy();
      return;
    }
    if (sent?.isQuestion) return answerPreflight(incoming, response);
    makeFitForCaller(incoming.headers);
    // The caller's own wish, which the agent does not see.
    incoming.headers.connection = response.shouldKeepAlive ? 'keep-alive' : 'close';
    // Node.js says this with a Connection of its own, but not with one that is given to it.
    const idleSeconds = response.shouldKeepAlive ? idleSecondsOf(response) : 0;
    if (idleSeconds > 0) incoming.headers['keep-alive'] = `timeout=${idleSeconds}`;
    // A stream's headers go out before its first event, which may be long in coming.
    if (incoming.headers['content-length'] === undefined) queueMicrotask(() => response.flushHeaders());
  });

  async function giveUpAfter(
    withinMs: number,
    outgoing: ClientRequest,
    response: ServerResponse,
    answered: AbortSignal,
  ): Promise<void> {
    const late = await clock.sleep(withinMs, answered).then(
      () => true,
      () => false,
    );
    if (!late) return;
    refuse(response, refusals.late);
    outgoing.destroy();
  }

  async function pass(request: IncomingMessage, response: ServerResponse, isQuestion: boolean): Promise<void> {
    inFlight += 1;
    const answered = new AbortController();
    const withinMs = isQuestion ? Math.min(preflightWithinMs, answerWithinMs) : answerWithinMs;
    answering.set(request, { answered, withinMs, isQuestion });
    try {
      await proxy.web(request, response);
    } catch (error) {
      // A caller that went away ends here too; there is nobody left to tell.
      if (response.writableEnded || response.destroyed) return;
      log(`An agent at ${upstream.origin} broke off: ${error instanceof Error ? error.message : String(error)}`);
      refuse(response, refusals.broken);
    } finally {
      answered.abort();
      inFlight -= 1;
      if (inFlight === 0) {
        const drained = waiting;
        waiting = [];
        for (const resolve of drained) resolve();
      }
    }
  }

  return {
    upstream,
    inFlight: () => inFlight,
    drained: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    close: () => connections.destroy(),
    send(request, response, path) {
      makeFitForAgent(request.headers, upstream.token);
      request.url = path;
      return pass(request, response, false);
    },
    sendPreflight(request, response, path) {
      makeFitForQuestion(request.headers, upstream.token);
      request.url = withoutQuery(path);
      return pass(request, response, true);
    },
  };
}
