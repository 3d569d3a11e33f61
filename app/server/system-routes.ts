import type { Clock } from '../../src/kit/clock.ts';
import { withTimeLimit } from '../../src/deploy/machine/deadlines.ts';
import { sendText } from './http-messages.ts';
import type { Route } from './http-server.ts';

/** The options of the routes for operators. */
export interface SystemOptions {
  /** Rejects or never resolves while the database is down. */
  probeDatabase: () => Promise<unknown>;
  isDraining: () => boolean;
  metrics: { contentType: string; text: () => Promise<string> };
  clock: Clock;
}

/** Timeout of a probe of the database (ms). */
export const databaseTimeoutMs = 2_000;

/**
 * `/healthz`: the process responds. `/readyz`: it accepts webhooks: the database responds and the process is not
 * shutting down. `/metrics`: counts for Prometheus.
 */
export function systemRoutes({ probeDatabase, isDraining, metrics, clock }: SystemOptions): Route[] {
  return [
    { method: 'GET', path: '/healthz', handle: ({ response }) => sendText(response, 200, 'ok') },
    {
      method: 'GET',
      path: '/readyz',
      handle: async ({ response }) => {
        if (isDraining()) return sendText(response, 503, 'leaving');
        const ready = await resolvesWithin(databaseTimeoutMs, probeDatabase, clock);
        return ready ? sendText(response, 200, 'ready') : sendText(response, 503, 'the database is unavailable');
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async ({ response }) => {
        const text = await metrics.text();
        response.writeHead(200, { 'content-type': metrics.contentType, 'content-length': Buffer.byteLength(text) });
        response.end(text);
      },
    },
  ];
}

/** Whether something resolves in time (ms). */
export const resolvesWithin = (ms: number, probe: () => Promise<unknown>, clock: Clock): Promise<boolean> =>
  withTimeLimit(clock, ms, undefined, probe).then(
    ({ kind }) => kind === 'done',
    () => false,
  );
