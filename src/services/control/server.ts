import { createServer, maxHeaderSize, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { once } from 'node:events';

import { codeOf } from '../../kit/errors.ts';
import { onUpgrade, responseOn, wantsWebSocket } from '../../kit/http/upgrade.ts';
import type { Env } from './api/operation.ts';
import type { UpgradeRequest } from './gateway/agent-route.ts';
import type { Gateway } from './gateway/gateway.ts';

/** The request handlers, and the prefix of all paths. */
export interface ServerSettings {
  fetch: (request: Request, bindings: Env['Bindings']) => Response | Promise<Response>;
  /** Takes a request for an agent, without `basePath` in its path; `false` leaves it to the service's own routes. */
  agents: Gateway['handle'];
  /** The path that everything hangs below, as in `/api-host`; empty for none. */
  basePath: string;
  /** Whether a request was sent to the agents' own origin, where nothing else is served. */
  isForAgents?: (host: string | undefined) => boolean;
}

/** The timeout for receiving a request (ms): the lifetime of an upload address, because a slow upload needs it. */
export const requestWithin = 15 * 60_000;

/** The one server of the control service: agents below `/agents/`, the service's own routes everywhere else. */
export function createHttpServer({ fetch, agents, basePath, isForAgents = () => false }: ServerSettings): Server {
  const own = getRequestListener(fetch, { overrideGlobalObjects: false });
  const started = new WeakMap<Duplex, Set<ServerResponse>>();
  const options = { requestTimeout: requestWithin, shouldUpgradeCallback: wantsWebSocket };
  const server = createServer(options, (request, response) => {
    const responses = started.get(request.socket) ?? new Set();
    started.set(request.socket, responses.add(response));
    response.once('close', () => responses.delete(response));
    answer(request, response);
  });
  onUpgrade(server, (request, connection, head) =>
    answer(request, responseOn(request, connection), { connection, head }),
  );
  function answer(request: IncomingMessage, response: ServerResponse, upgrade?: UpgradeRequest): void {
    const path = below(basePath, request.url ?? '/');
    if (path === undefined) return notFound(response, `everything of this service is below ${basePath}.`);
    request.url = path;
    if (agents(request, response, basePath, upgrade)) return;
    if (isForAgents(request.headers.host)) notFound(response, 'this address serves agents only, below /agents/.');
    else void own(request, response);
  }
  server.on('clientError', (error, socket) => {
    // A client would read the explanation as a part of a response that has begun.
    const hasBegun = [...(started.get(socket) ?? [])].some(({ headersSent }) => headersSent);
    if (!socket.writable || hasBegun) socket.destroy();
    else socket.end(explainInvalid(codeOf(error)), () => socket.destroy());
  });
  return server;
}

function notFound(response: ServerResponse, why: string): void {
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ detail: `Not Found: ${why}` }));
}

const invalidRequests: Readonly<Record<string, readonly [status: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    `The address and the headers of this request have more than ${maxHeaderSize / 1024} KB together. Shorten the address, or send fewer headers.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request was not received in time. Send it again.'],
};

/** The response to what is no complete HTTP request; by itself Node sends one without a body. */
function explainInvalid(code: string): string {
  const [status, detail] = invalidRequests[code] ?? [
    '400 Bad Request',
    'This is no valid HTTP request. Check the address, and whether it is http or https.',
  ];
  const body = JSON.stringify({ detail });
  const head = [`HTTP/1.1 ${status}`, 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  return [...head, 'Connection: close', '', body].join('\r\n');
}

/** The URL without the base path; undefined for a path that is not below it. */
export function below(basePath: string, url: string): string | undefined {
  if (basePath === '') return url;
  if (!url.startsWith(basePath)) return undefined;
  const rest = url.slice(basePath.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : undefined;
}

/** Listens at a port of 127.0.0.1, 0 for a free one; returns the actual port. @throws Error with advice. */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  // It rejects with what the server says in the place of listening.
  await once(server, 'listening').catch((error: unknown) => {
    throw portProblem(error, port);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens at no port.');
  return address.port;
}

/** Checks whether the port is free, before anything is created in vain. @throws Error with advice when not. */
export async function provePort(port: number): Promise<void> {
  const tried = createServer();
  await listen(tried, port);
  tried.close();
  await once(tried, 'close');
}

function portProblem(error: unknown, port: number): unknown {
  const code = codeOf(error);
  if (code === 'EADDRINUSE')
    return new Error(`Port ${port} is taken. Choose another one with --port, or 0 for a free one.`);
  if (code === 'EACCES')
    return new Error(`Port ${port} may not be used by this user. Choose one above 1023 with --port.`);
  return error;
}

/** Stops accepting requests; those in flight continue until their handlers end. */
export async function endServer(server: Server, endAgents: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  server.closeIdleConnections();
  await endAgents();
  server.closeAllConnections();
  await closed;
}
