import { Webhooks } from '@octokit/webhooks';
import { loggerTo } from '../test/logger.ts';
import type { StoreDelivery } from '../app/inbox/store-deliveries.ts';
import { createMetrics } from '../app/operate/metrics.ts';
import { listen } from '../app/server/http-server.ts';
import { verifySignature, webhookRoutes } from '../app/server/webhook-route.ts';
import { systemClock } from '../src/kit/clock.ts';
import { webhookSecret } from './webhook.ts';

const log = loggerTo((message: string): void => console.error(message));

/** Our intake as the App has it, with its counts, and `store` for its inbox. @returns its port */
export async function startOurs(store: StoreDelivery): Promise<number> {
  const metrics = createMetrics();
  const { port } = await listen({
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log,
    timeouts: { idleMs: 60_000 },
    routes: webhookRoutes({
      verify: verifySignature([new Webhooks({ secret: webhookSecret })]),
      store,
      clock: systemClock,
      log,
      count: (event, result) => metrics.countWebhook(event, result),
      onStored: () => undefined,
    }),
  });
  return port;
}
