import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WebSocket, WebSocketServer } from 'ws';
import { maxBodyBytes } from './body.ts';
import { onUpgrade, responseOn } from '../../../kit/http/upgrade.ts';

/** A request for a WebSocket. An operation grants it by setting `accept`, which gets the socket in place of its response. */
export interface Upgrade {
  accept?: (socket: WebSocket) => void;
  /** Called if the socket that was granted is not opened. */
  decline?: () => void;
  /** The subprotocol to speak, null for none; absent for the first that the client offers. */
  subprotocol?: string | null;
  headers?: readonly (readonly [name: string, value: string])[];
}

/** What was granted to requests whose sockets are opened. */
const granted = new WeakMap<IncomingMessage, Upgrade>();

/** Handles a request; `upgrade` is given where it asks for a WebSocket. */
export type RequestHandler = (request: Request, upgrade?: Upgrade) => Response | Promise<Response>;

/** The close code "going away" (RFC 6455, section 7.4.1). */
export const goingAway = 1001;

/** Accepts WebSockets where an operation grants them. */
export function acceptWebSockets(server: Server, handle: RequestHandler) {
  let loaded: Promise<WebSocketServer> | undefined;
  onUpgrade(server, async (incoming, connection, head) => {
    const upgrade: Upgrade = {};
    const response = await handle(requestOf(incoming), upgrade);
    const { accept } = upgrade;
    const isGranted = accept && response.ok && mayConnect(incoming.headers, response.headers);
    // Its client has left, and nobody would be told.
    if (connection.destroyed) return upgrade.decline?.();
    if (isGranted) {
      granted.set(incoming, upgrade);
      let isOpen = false;
      const open = (socket: WebSocket): void => {
        isOpen = true;
        accept(socket);
      };
      connection.once('close', () => {
        if (!isOpen) upgrade.decline?.();
      });
      return (await (loaded ??= load())).handleUpgrade(incoming, connection, head, open);
    }
    upgrade.decline?.();
    const outgoing = responseOn(incoming, connection);
    const refused = accept && response.ok ? otherOrigin() : response;
    outgoing.writeHead(refused.status, [...refused.headers].flat());
    if (refused.body) await pipeline(Readable.fromWeb(refused.body), outgoing);
    else outgoing.end();
  });
  return {
    /** Asks the clients of all sockets to leave. */
    close: async () => {
      for (const socket of (await loaded)?.clients ?? []) socket.close(goingAway);
    },
  };
}

/** Loaded on first use: most processes never need it and start faster. */
async function load(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxBodyBytes,
    handleProtocols: (offered, incoming) => {
      const [first = null] = offered;
      const { subprotocol = first } = granted.get(incoming) ?? {};
      return subprotocol !== null && offered.has(subprotocol) ? subprotocol : false;
    },
  });
  server.on('headers', (lines, incoming) => {
    for (const [name, value] of granted.get(incoming)?.headers ?? []) lines.push(`${name}: ${value}`);
  });
  return server;
}

function requestOf({ url = '/', headers }: IncomingMessage): Request {
  const values = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), { headers: values });
}

/** Whether a page may connect, by CORS headers: browsers apply none to WebSockets, and send cookies with them. */
export function mayConnect(
  { origin, host, cookie }: Pick<IncomingHttpHeaders, 'origin' | 'host' | 'cookie'>,
  cors: Headers,
): boolean {
  if (origin === undefined || URL.parse(origin)?.host === host) return true;
  const allowed = cors.get('access-control-allow-origin');
  if (cookie === undefined) return allowed !== null;
  return allowed === origin && cors.get('access-control-allow-credentials') === 'true';
}

const otherOrigin = (): Response =>
  Response.json(
    { detail: 'Pages of this origin may not connect. Add it to http.cors.allow_origins.' },
    { status: 403 },
  );
