import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hasCode } from '../../errors.ts';

/**
 * A free port of 127.0.0.1: the previous one if it is still free, so that processes which outlived us find the
 * server again under the address they know; else any.
 *
 * @param lastTime the file that holds the number of the last time.
 */
export async function choosePort(lastTime: string): Promise<number> {
  const wanted = readPort(lastTime);
  return (wanted === undefined ? undefined : await freePort(wanted)) ?? (await freePort(0)) ?? 0;
}

function readPort(file: string): number | undefined {
  try {
    const port = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(port) && port > 1023 && port < 65_536 ? port : undefined;
  } catch (error) {
    // One that root wrote on a data folder of ours is closed to us; any other port will do.
    if (hasCode(error, 'ENOENT', 'EACCES')) return undefined;
    throw error;
  }
}

function freePort(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => (hasCode(error, 'EADDRINUSE', 'EACCES') ? resolve(undefined) : reject(error)));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}
