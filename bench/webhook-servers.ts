import { createHmac, generateKeyPairSync, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createNodeMiddleware, Probot } from 'probot';
import { createMetrics } from '../app/operate/metrics.ts';
import type { StoreDelivery } from '../app/inbox/store-deliveries.ts';
import { listen } from '../app/server/http-server.ts';
import { verifySignature } from '../app/server/signature.ts';
import { webhookRoutes } from '../app/server/webhook-route.ts';
import { systemClock } from '../src/clock.ts';
import { webhookPath, webhookSecret } from './webhook.ts';

/** A webhook that the bare server took. */
export interface BareDelivery {
  id: string;
  payload: object;
}

const says = (message: string): void => console.error(message);

/** Listens on a free port of loopback, and tells it. */
async function listening(server: Server): Promise<number> {
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens at no port');
  return address.port;
}

function bytesOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

/** The least that a webhook can cost: `node:http`, the signature, `JSON.parse`, and what `keep` does. @returns its port */
export function startBare(keep?: (delivery: BareDelivery) => Promise<void>): Promise<number> {
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const bytes = await bytesOf(request);
      const given = Buffer.from(String(request.headers['x-hub-signature-256']).slice('sha256='.length), 'hex');
      const right = createHmac('sha256', webhookSecret).update(bytes).digest();
      if (given.length !== right.length || !timingSafeEqual(given, right)) {
        response.writeHead(401).end();
        return;
      }
      const payload: unknown = JSON.parse(bytes.toString('utf8'));
      if (typeof payload !== 'object' || payload === null) throw new Error('a webhook was no object');
      if (keep) await keep({ id: String(request.headers['x-github-delivery']), payload });
      response.writeHead(202, { 'content-length': 3 }).end('ok\n');
    };
    answer().catch((error: unknown) => {
      says(String(error));
      response.writeHead(500, { 'content-length': 0 }).end();
    });
  });
  return listening(server);
}

/** Our intake as the App has it, with its counts, and `store` for its inbox. @returns its port */
export async function startOurs(store: StoreDelivery): Promise<number> {
  const metrics = createMetrics();
  const { port } = await listen({
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log: says,
    patience: { idleMs: 60_000 },
    routes: webhookRoutes({
      verify: verifySignature([webhookSecret]),
      store,
      clock: systemClock,
      log: says,
      count: (event, result) => metrics.countWebhook(event, result),
      onStored: () => undefined,
    }),
  });
  return port;
}

/** Probot's own middleware, with a handler for pushes that does nothing. @returns its port */
export async function startProbot(): Promise<number> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const probot = new Probot({
    appId: 1,
    privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    secret: webhookSecret,
    logLevel: 'fatal',
  });
  const middleware = await createNodeMiddleware(
    (app) => {
      app.on('push', () => undefined);
    },
    { probot, webhooksPath: webhookPath },
  );
  return listening(
    createServer((request, response) => {
      void middleware(request, response);
    }),
  );
}
