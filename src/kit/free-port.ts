import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { hasCode } from './errors.ts';

/**
 * Where ports are looked for: below those that systems hand out by themselves (from 32768 on Linux, from 49152
 * elsewhere), so that no connection and no other server gets the port between the choice and its use.
 */
const [lowest, above] = [10_240, 32_768];

/** A free port of 127.0.0.1, for a server that needs it before it listens. @throws Error where none is found. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(lowest, above);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port was found between ${lowest} and ${above - 1}. End servers that are not needed.`);
}

/** Whether a server of this user could listen at a port of 127.0.0.1 now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => (hasCode(error, 'EADDRINUSE', 'EACCES') ? resolve(false) : reject(error)));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
