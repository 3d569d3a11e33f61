import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Clock } from '../clock.ts';
import { StartupError } from './startup-error.ts';

/** The keep-alive timeout (ms) of connections. */
const keepAliveMs = 75_000;
/** The listen backlog: a Unix socket refuses connections beyond it at once. */
const connectionBacklog = 4096;
/** How long (ms) responses may take to finish once all runs have ended. */
const closeGraceMs = 1000;

/** A server that listens. */
export interface Listener {
  /** `http://<host>:<port>`, or `unix:<path>`. */
  url: string;
  /** Absent where it listens on a Unix socket. */
  port: number | undefined;
  /** Stops accepting connections. */
  stopAccepting(): void;
  /** Waits for the last responses, then closes every connection. */
  close(): Promise<void>;
}

/**
 * Listens on an address, or on a Unix socket if given.
 *
 * @throws StartupError if it is in use or not permitted.
 */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { host, port, socket, clock }: { host: string; port: number; socket?: string | undefined; clock: Clock },
): Promise<Listener> {
  const answer = getRequestListener(fetch, { overrideGlobalObjects: false });
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  // A run may take longer than any request timeout.
  server.requestTimeout = 0;
  // Longer than a proxy's idle timeout: the proxy must close an idle connection first, or it could lose a request.
  server.keepAliveTimeout = keepAliveMs;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const advice = 'Set HOST and PORT to an address of this machine that is free; PORT=0 takes any.';
      reject(
        new StartupError('address', [`Can't listen on ${socket ?? `${host}:${port}`}: ${error.message}. ${advice}`], {
          cause: error,
        }),
      );
    });
    server.listen(
      { ...(socket === undefined ? { host, port } : { path: socket }), backlog: connectionBacklog },
      resolve,
    );
  });
  let closed: Promise<void> | undefined;
  const stopAccepting = () => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
  };
  return {
    ...addressOf(server, host),
    stopAccepting,
    close: async () => {
      stopAccepting();
      server.closeIdleConnections();
      const enough = new AbortController();
      await Promise.race([
        closed?.finally(() => enough.abort()),
        clock.sleep(closeGraceMs, enough.signal).catch(() => closed),
      ]);
      server.closeAllConnections();
      await closed;
    },
  };
}

function addressOf(server: Server, host: string): Pick<Listener, 'url' | 'port'> {
  const address = server.address();
  if (address === null) throw new Error('The server does not listen.');
  if (typeof address === 'string') return { url: `unix:${address}`, port: undefined };
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`, port: address.port };
}
