import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import { Socket } from 'node:net';

/** Whether a request asks for a WebSocket. Node.js answers requests for other protocols as if they did not ask. */
export const wantsWebSocket = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Handles the requests of a server that ask for an upgrade; a failure closes the connection.
 *
 * @param handle `head` is what the client has sent after its request.
 */
export function onUpgrade(
  server: Server,
  handle: (request: IncomingMessage, connection: Socket, head: Buffer) => void | Promise<void>,
): void {
  server.on('upgrade', (request, connection, head) => {
    // Node.js no longer handles errors of the connection.
    connection.on('error', () => undefined);
    const answer = async () => {
      if (connection instanceof Socket) await handle(request, connection, head);
      else connection.destroy();
    };
    answer().catch(() => connection.destroy());
  });
}

/** A response in the place of an upgrade. The connection closes after it. */
export function responseOn(request: IncomingMessage, connection: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(connection);
  response.once('finish', () => connection.destroySoon());
  return response;
}
