import type { IncomingMessage, Server } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WebSocket, WebSocketServer } from 'ws';
import { onUpgrade, responseOn } from '../http/upgrade.ts';

/** A request for a WebSocket. An operation grants it by setting `accept`, which gets the socket in place of its response. */
export interface Upgrade {
  accept?: (socket: WebSocket) => void;
}

/** Handles a request, with `upgrade` one for a WebSocket. */
export type Answer = (request: Request, upgrade?: Upgrade) => Response | Promise<Response>;

/** The largest message (bytes) of a client: that of a request's body. */
const largestMessage = 16 * 1024 * 1024;
/** The close code of a server that shuts down. */
export const goingAway = 1001;

/** Accepts WebSockets where an operation grants them. */
export function acceptWebSockets(server: Server, answer: Answer) {
  let loaded: Promise<WebSocketServer> | undefined;
  onUpgrade(server, async (incoming, connection, head) => {
    const upgrade: Upgrade = {};
    const response = await answer(requestOf(incoming), upgrade);
    const { accept } = upgrade;
    const isGranted = accept && response.ok && mayConnect(incoming, response);
    if (isGranted) return (await (loaded ??= load())).handleUpgrade(incoming, connection, head, accept);
    const outgoing = responseOn(incoming, connection);
    const refused = accept && response.ok ? otherOrigin() : response;
    outgoing.writeHead(refused.status, [...refused.headers].flat());
    if (refused.body) await pipeline(Readable.fromWeb(refused.body), outgoing);
    else outgoing.end();
  });
  return {
    /** Closes all sockets; `cut` without waiting for the clients. */
    close: async (how: 'ask' | 'cut') => {
      for (const socket of (await loaded)?.clients ?? []) {
        if (how === 'cut') socket.terminate();
        else socket.close(goingAway);
      }
    },
  };
}

/** Loaded on first use: most processes never need it and start faster. */
async function load(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({ noServer: true, maxPayload: largestMessage });
}

function requestOf({ url = '/', headers }: IncomingMessage): Request {
  const values = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), { headers: values });
}

/** Browsers let any page open a WebSocket: the origins that may call are checked here. */
const mayConnect = ({ headers }: IncomingMessage, response: Response): boolean =>
  headers.origin === undefined || response.headers.has('access-control-allow-origin');

const otherOrigin = (): Response =>
  Response.json(
    { detail: 'Pages of this origin may not connect. Add it to http.cors.allow_origins.' },
    { status: 403 },
  );
