import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Whether a request is for a WebSocket. Node.js handles other requests as if they had no `Upgrade` header. */
export const wantsWebSocket = ({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Handles the requests of a server that ask for an upgrade; a failure closes the connection. `closeAllConnections` of
 * the server cuts their connections too, which Node.js leaves open.
 *
 * @param handle `head` is what the client has sent after its request.
 */
export function onUpgrade(
  server: Server,
  handle: (request: IncomingMessage, connection: Socket, head: Buffer) => void | Promise<void>,
): void {
  const connections = new Set<Duplex>();
  server.on('upgrade', (request, connection, head) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
    // Node.js no longer handles errors of the connection.
    connection.on('error', () => undefined);
    const answer = async () => {
      if (connection instanceof Socket) await handle(request, connection, head);
      else connection.destroy();
    };
    answer().catch(() => connection.destroy());
  });
  const closeOthers = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    closeOthers();
    for (const connection of connections) connection.destroy();
  };
}

/** A response in the place of an upgrade. The connection closes after it. */
export function responseOn(request: IncomingMessage, connection: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(connection);
  response.once('finish', () => connection.destroySoon());
  return response;
}
