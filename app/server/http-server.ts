import type { Logger } from '../../src/kit/logger.ts';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { codeOf, stackOf } from '../../src/kit/errors.ts';
import { type Clock, pause } from '../../src/kit/clock.ts';
import { unavailable, refuse, sendText } from './http-messages.ts';

/** Timeouts for slow clients (ms). */
export interface Timeouts {
  /** Until all headers are received. */
  headersMs: number;
  /** Until the whole request is received. */
  requestMs: number;
  /** Between two requests of a connection. */
  idleMs: number;
  /** Interval of the check for slow clients. */
  checkIntervalMs: number;
}

const defaultTimeouts: Timeouts = { headersMs: 10_000, requestMs: 30_000, idleMs: 15_000, checkIntervalMs: 2_000 };

/** The options of a server. */
export interface AppServerOptions {
  routes: readonly Route[];
  host: string;
  /** 0 chooses a free port. */
  port: number;
  clock: Clock;
  /** Receives internal errors, with their stacks. */
  log: Logger;
  timeouts?: Partial<Timeouts>;
}

/** Listens for HTTP. Requests during shutdown get 503. @throws Error with advice if the port is not available. */
export async function listen(options: AppServerOptions) {
  const { routes, host, port, clock, log } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const findRoute = createRouter(routes);
  let draining = false;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    if (draining) {
      response.shouldKeepAlive = false;
      const refusal = unavailable('The App is shutting down. Retry later.');
      return refuse(request, response, refusal, clock);
    }
    const found = findRoute(method, url);
    if (found.kind === 'none') return refuse(request, response, { status: 404, problem: 'Not found.' }, clock);
    if (found.kind === 'other-methods') {
      response.setHeader('allow', found.allow);
      return refuse(request, response, { status: 405, problem: `Method not allowed. Use ${found.allow}.` }, clock);
    }
    await found.route.handle({ request, response, params: found.params, query: () => queryOf(url) });
  }

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch((error: unknown) => {
      log.error(`A request could not be answered: ${stackOf(error)}`);
      sendText(response, 500, 'Something went wrong here.');
    });
  };
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.idleMs,
    connectionsCheckingInterval: timeouts.checkIntervalMs,
  });
  server.on('request', answer);
  // Without this listener, Node would accept `Expect: 100-continue` requests before their headers are checked.
  server.on('checkContinue', answer);
  server.listen(port, host);
  // Rejects with the server's error if it cannot listen.
  await once(server, 'listening').catch((error: unknown) => {
    throw listenProblem(error, host, port);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens at no port.');

  return {
    /** Where it listens, without a slash at the end. */
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    port: address.port,
    /** Whether it refuses new requests. */
    get draining(): boolean {
      return draining;
    },
    /** Takes no more requests and waits until those under way are answered; after `withinMs` they are cut off. */
    async drain(withinMs: number): Promise<void> {
      if (draining) return;
      draining = true;
      const over = new AbortController();
      const closed = new Promise<void>((resolve) => server.close(() => resolve())).then(() => over.abort());
      // Connections become idle once their last response is sent.
      const sweep = setInterval(() => server.closeIdleConnections(), 50);
      server.closeIdleConnections();
      await pause(clock, withinMs, over.signal);
      clearInterval(sweep);
      server.closeAllConnections();
      await closed;
    },
  };
}
/** A server that listens. */
export type AppServer = Awaited<ReturnType<typeof listen>>;

function listenProblem(error: unknown, host: string, port: number): unknown {
  const code = codeOf(error);
  if (code === 'EADDRINUSE')
    return new Error(`Port ${port} is taken. Set PORT to another one, or to 0 for a free one.`);
  if (code === 'EACCES') return new Error(`Port ${port} may not be used by this user. Set PORT to one above 1023.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new Error(`${host} is no address of this machine. Set HOST to one, or to 0.0.0.0 for all.`);
  }
  return error;
}

/** A request and the parameters of its route. */
interface RouteContext {
  request: IncomingMessage;
  response: ServerResponse;
  /** The values of the path's `:name` parameters. */
  params: Readonly<Record<string, string>>;
  /** Parsed only on use. */
  query: () => URLSearchParams;
}

/** The handler of a path, for example `/runs/:intent`. */
export interface Route {
  method: 'GET' | 'POST';
  path: string;
  /** Responds. A rejection is an internal error: a 500. */
  handle: (call: RouteContext) => Promise<void> | void;
}

/** The route of a request, or the methods that its path allows. */
type FoundRoute =
  | { kind: 'found'; route: Route; params: Record<string, string> }
  | { kind: 'other-methods'; allow: string }
  | { kind: 'none' };

/** Creates a function that finds the route of a request. */
export function createRouter(routes: readonly Route[]): (method: string, url: string) => FoundRoute {
  const routePatterns = routes.map((route) => ({ route, pattern: patternOf(route.path) }));
  return (method, url) => {
    const path = pathOf(url);
    const matches = routePatterns.flatMap(({ route, pattern }) => {
      const match = pattern.exec(path);
      const params = match ? decodeParameters(match.groups ?? {}) : undefined;
      return params === undefined ? [] : [{ route, params }];
    });
    const match = matches.find(({ route }) => route.method === method);
    if (match) return { kind: 'found', ...match };
    if (matches.length === 0) return { kind: 'none' };
    return { kind: 'other-methods', allow: [...new Set(matches.map(({ route }) => route.method))].join(', ') };
  };
}

/** The path of a request's address, without its query. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';

/** The query of a request's address. */
export const queryOf = (url: string): URLSearchParams => new URLSearchParams(url.slice(pathOf(url).length));

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`);

function decodeParameters(groups: Readonly<Record<string, string>>): Record<string, string> | undefined {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
