import { Hono } from 'hono';
import type { Env } from './env.ts';
import { readConditions, readJson, readQuery } from './read.ts';
import { onlyMethods } from './refusing.ts';

const keys = '/v1/api-keys';

/** A tenant's own keys, and its audit log: additions of ours. */
export function keyRoutes(): Hono<Env> {
  const routes = new Hono<Env>();
  routes.get(keys, async (c) => c.json(await c.var.service.listApiKeys(readQuery(c))));
  routes.post(keys, async (c) => c.json(await c.var.service.createApiKey(await readJson(c), readConditions(c)), 201));
  routes.all(keys, onlyMethods('GET', 'POST'));
  routes.delete(`${keys}/:id`, async (c) => {
    await c.var.service.revokeApiKey(c.req.param('id'), readConditions(c));
    return c.body(null, 204);
  });
  routes.all(`${keys}/:id`, onlyMethods('DELETE'));
  routes.get('/v1/audit', async (c) => c.json(await c.var.service.listAudit(readQuery(c))));
  routes.all('/v1/audit', onlyMethods('GET'));
  return routes;
}
