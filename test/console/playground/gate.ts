import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

/** Holds an agent in the middle of an answer for as long as a test needs. */
export interface Gate {
  /** A word of the message: the agent requests it and continues with the response. */
  url: string;
  /** Resolves once an agent waits at it. */
  reached(): Promise<void>;
  /** Lets all through, from now on. */
  open(): void;
  /** The paths that were requested, in order. */
  requests: string[];
  close(): Promise<void>;
}

export async function openGate(): Promise<Gate> {
  let isOpen = false;
  const requests: string[] = [];
  const waiting = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (isOpen) return void response.end();
    waiting.add(response);
    response.on('close', () => waiting.delete(response));
    server.emit('reached');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the gate listens on no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    async reached() {
      while (waiting.size === 0) await once(server, 'reached');
    },
    open() {
      isOpen = true;
      for (const response of waiting) response.end();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
