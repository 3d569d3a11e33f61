import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createNodeMiddleware, Probot } from 'probot';
import { listening } from './bare-server.ts';
import { webhookPath, webhookSecret } from './webhook.ts';

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
