import { Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '../../clock.ts';
import { forward, passOn, type Forwarding } from './forward.ts';
import { makeFitForAgent } from './headers.ts';
import { answerPreflight, makeFitForQuestion, preflightWithinMs, withoutQuery } from './preflight.ts';

/** The address of an agent's process, and the token that it requires. */
export interface Upstream {
  /** `http://<host>:<port>`, or `unix:<path>` of its socket. */
  origin: string;
  token: string;
}

/** The route to one process of an agent, with a count of its requests. */
export interface AgentRoute {
  readonly upstream: Upstream;
  /** The number of open requests, including streams. */
  inFlight(): number;
  /** Resolves when nothing is in flight. */
  drained(): Promise<void>;
  /** Closes the connections; requests in flight are cut. */
  close(): void;
}

/** A route that the gateway sends requests on. */
export interface OpenRoute extends AgentRoute {
  /** Forwards a request. `path` is what the agent sees. Never rejects: the caller gets the error as a response. */
  send(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
  /** Forwards a CORS preflight from any caller: only status and CORS headers come back. */
  sendPreflight(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
}

export interface RouteSettings {
  clock: Clock;
  log: (message: string) => void;
  /** The timeout of a response's start, in milliseconds. */
  answerWithinMs: number;
}

/**
 * The keep-alive of idle connections to an agent, in milliseconds: shorter than that of servers, because a request on a
 * connection that the server is closing would be lost. A connection in use may be silent for longer.
 */
const idleMs = 4_000;

/** Creates a route to a process. */
export function openRoute(upstream: Upstream, { clock, log, answerWithinMs }: RouteSettings): OpenRoute {
  const { origin } = upstream;
  const connections = new Agent({ keepAlive: true, maxSockets: Infinity, timeout: idleMs });
  const onFailure = (reason: string): void => log(`An agent at ${origin} failed: ${reason}`);
  let inFlight = 0;
  let waiting: (() => void)[] = [];

  async function pass(
    request: IncomingMessage,
    response: ServerResponse,
    how: Pick<Forwarding, 'respond' | 'withinMs'>,
  ): Promise<void> {
    inFlight += 1;
    await forward(request, response, { ...how, origin, connections, clock, onFailure });
    inFlight -= 1;
    if (inFlight > 0) return;
    const drained = waiting;
    waiting = [];
    for (const resolve of drained) resolve();
  }

  return {
    upstream,
    inFlight: () => inFlight,
    drained: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    close: () => connections.destroy(),
    send(request, response, path) {
      makeFitForAgent(request.headers, upstream.token);
      request.url = path;
      return pass(request, response, { respond: passOn, withinMs: answerWithinMs });
    },
    sendPreflight(request, response, path) {
      makeFitForQuestion(request.headers, upstream.token);
      request.url = withoutQuery(path);
      const withinMs = Math.min(preflightWithinMs, answerWithinMs);
      return pass(request, response, { respond: answerPreflight, withinMs });
    },
  };
}
