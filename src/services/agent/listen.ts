import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { endsWithin, type Clock } from '../../kit/clock.ts';
import { messageOf } from '../../kit/errors.ts';
import { wantsWebSocket } from '../../kit/http/upgrade.ts';
import { StartupError } from './startup-error.ts';
import { acceptWebSockets, type RequestHandler } from './api/web-sockets.ts';

const keepAliveMs = 75_000;
/** The listen backlog: a Unix socket refuses connections beyond it at once. */
const connectionBacklog = 4096;
/** How long (ms) responses may take to finish once all runs have ended. */
const closeGraceMs = 1000;

/** Listens on an address, or on a Unix socket if given. @throws StartupError if it is in use or not permitted. */
export async function listen(
  handle: RequestHandler,
  { host, port, socket, clock }: { host: string; port: number; socket?: string | undefined; clock: Clock },
) {
  let closed: Promise<void> | undefined;
  const listener = getRequestListener((request) => handle(request), { overrideGlobalObjects: false });
  const server = createServer({ shouldUpgradeCallback: wantsWebSocket }, (incoming, outgoing) => {
    // Its client's next request goes to another process.
    if (closed) outgoing.shouldKeepAlive = false;
    void listener(incoming, outgoing);
  });
  const sockets = acceptWebSockets(server, handle);
  // A run may take longer than any request timeout.
  server.requestTimeout = 0;
  // Longer than a proxy's idle timeout: the proxy must close an idle connection first, or it could lose a request.
  server.keepAliveTimeout = keepAliveMs;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    const address = socket === undefined ? { host, port } : { path: socket };
    server.listen({ ...address, backlog: connectionBacklog }, resolve);
  }).catch((error: unknown) => {
    const problem = `Can't listen on ${socket ?? `${host}:${port}`}: ${messageOf(error)}.`;
    const advice = 'Set HOST and PORT to an address of this machine that is free; PORT=0 takes any.';
    throw new StartupError('address', [`${problem} ${advice}`], { cause: error });
  });
  const stopAccepting = () => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
  };
  return {
    ...addressOf(server, host),
    stopAccepting,
    closeWebSockets: sockets.close,
    /** Waits for the last responses, then closes every connection. */
    close: async () => {
      stopAccepting();
      server.closeIdleConnections();
      await sockets.close();
      if (closed) await endsWithin(clock, closeGraceMs, closed);
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The URL is `http://<host>:<port>`, or `unix:<path>`. */
function addressOf(server: Server, host: string): { url: string; port: number | undefined } {
  const address = server.address();
  if (address === null) throw new Error('The server does not listen.');
  if (typeof address === 'string') return { url: `unix:${address}`, port: undefined };
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`, port: address.port };
}
