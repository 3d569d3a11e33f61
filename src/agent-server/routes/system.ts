import { Hono } from 'hono';
import type { ServerInfo } from '../../contract/agent/server-info.ts';

/** `GET /ok` and `GET /info`. */
export function systemRoutes(info: ServerInfo, checkDatabase: () => Promise<void>): Hono {
  const routes = new Hono();
  routes.get('/ok', async (c) => {
    if (c.req.query('check_db') === '1' || c.req.query('check_db') === 'true') await checkDatabase();
    return c.json({ ok: true });
  });
  routes.get('/info', (c) => c.json(info));
  return routes;
}
