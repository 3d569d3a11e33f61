import { loggerTo } from '../../logger.ts';
import { createHmac, randomUUID } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import { onTestFinished } from 'vitest';
import type { Delivery } from '../../../app/inbox/delivery.ts';
import type { StoreDelivery } from '../../../app/inbox/store-deliveries.ts';
import { listen, type AppServer, type AppServerOptions, type Route } from '../../../app/server/http-server.ts';
import { verifySignature, webhookRoutes, type WebhookOptions } from '../../../app/server/webhook-route.ts';
import { systemClock } from '../../../src/kit/clock.ts';

export const secret = 'a-secret-of-our-own-0123456789';

/** The signature that GitHub would give. */
export const signatureOf = (body: string | Buffer, key = secret): string =>
  `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;

/** A push as a webhook's body: as little of it as intake looks at, and what `more` adds. */
export const pushBody = (more: object = {}): string =>
  JSON.stringify({ ref: 'refs/heads/main', repository: { id: 7 }, installation: { id: 5 }, ...more });

export interface Webhook {
  id?: string;
  body?: string | Buffer;
  /** Take the place of the usual headers; one that is undefined is left out. */
  headers?: Record<string, string | undefined>;
  path?: string;
}

/** Sends a webhook as GitHub would. */
export function send(url: string, { id = randomUUID(), body = pushBody(), headers = {}, path = '/' }: Webhook = {}) {
  const all = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': id,
    'x-hub-signature-256': signatureOf(body),
    ...headers,
  };
  const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return fetch(url + path, { method: 'POST', headers: Object.fromEntries(given), body: Buffer.from(body) });
}

export interface TestIntake {
  url: string;
  server: AppServer;
  stored: Delivery[];
  logged: string[];
}

/** A server that takes webhooks into a list, and ends with the test. */
export async function startIntake(
  more: Partial<WebhookOptions & Pick<AppServerOptions, 'timeouts'>> & { routes?: Route[] } = {},
): Promise<TestIntake> {
  const stored: Delivery[] = [];
  const logged: string[] = [];
  const store: StoreDelivery = async (delivery) => {
    if (stored.some(({ id }) => id === delivery.id)) return 'known';
    stored.push(delivery);
    return 'stored';
  };
  const log = loggerTo((message: string): void => void logged.push(message));
  const { timeouts = {}, routes = [], ...options } = more;
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log,
    timeouts,
    routes: [
      ...webhookRoutes({
        verify: verifySignature([new Webhooks({ secret })]),
        store,
        clock: systemClock,
        log,
        ...options,
      }),
      ...routes,
    ],
  });
  onTestFinished(() => server.drain(0));
  return { url: server.url, server, stored, logged };
}
