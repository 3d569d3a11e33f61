import { Hono } from 'hono';
import * as z from 'zod';
import type { ServerInfo } from '../../contract/agent/server-info.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { flag, readQuery } from './body.ts';

const HealthQuery = z.looseObject({ check_db: flag });
const MetricsQuery = z.looseObject({ format: z.enum(['prometheus', 'json']).default('prometheus') });

/** The dependencies of the system routes. */
export interface SystemParts {
  info: ServerInfo;
  checkDatabase: () => Promise<void>;
  metrics: Metrics;
}

/** `GET /ok`, `GET /info` and `GET /metrics`. */
export function systemRoutes({ info, checkDatabase, metrics }: SystemParts): Hono {
  const routes = new Hono();
  routes.get('/ok', async (c) => {
    const { check_db } = readQuery(c, HealthQuery);
    if (check_db) await checkDatabase();
    return c.json({ ok: true });
  });
  routes.get('/info', (c) => c.json(info));
  routes.get('/metrics', async (c) => {
    const { format } = readQuery(c, MetricsQuery);
    if (format === 'json') return c.json(await metrics.json());
    const { body, type } = await metrics.text();
    return c.body(body, 200, { 'content-type': type });
  });
  return routes;
}
