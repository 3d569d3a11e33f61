import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { webhookSecret } from './webhook.ts';

/** A webhook that the bare server took. */
export interface BareDelivery {
  id: string;
  payload: object;
}

/** Listens on a free loopback port and returns the port. */
export async function listening(server: Server): Promise<number> {
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens at no port');
  return address.port;
}

/** The least that a webhook can cost: `node:http`, the signature, `JSON.parse`, and what `keep` does. @returns its port */
export function startBare(keep?: (delivery: BareDelivery) => Promise<void>): Promise<number> {
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const bytes = await bytesOf(request);
      const given = Buffer.from(String(request.headers['x-hub-signature-256']).slice('sha256='.length), 'hex');
      const right = createHmac('sha256', webhookSecret).update(bytes).digest();
      if (given.length !== right.length || !timingSafeEqual(given, right)) {
        response.writeHead(401, { 'content-length': 0 }).end();
        return;
      }
      const payload: unknown = JSON.parse(bytes.toString('utf8'));
      if (typeof payload !== 'object' || payload === null) throw new Error('a webhook was no object');
      if (keep) await keep({ id: String(request.headers['x-github-delivery']), payload });
      response.writeHead(202, { 'content-length': 3 }).end('ok\n');
    };
    answer().catch((error: unknown) => {
      console.error(error);
      response.writeHead(500, { 'content-length': 0 }).end();
    });
  });
  return listening(server);
}

function bytesOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}
