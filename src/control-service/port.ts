import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { codeOf } from '../errors.ts';

/**
 * Listens at a port of 127.0.0.1, 0 for a free one; returns the actual port.
 *
 * @throws Error with advice when the port is taken or may not be used.
 */
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

/**
 * Checks whether the port is free, before anything is created that would have to be removed again.
 *
 * @throws Error with advice when not.
 */
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
