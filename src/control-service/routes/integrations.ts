import { Hono } from 'hono';
import type { Env } from './env.ts';
import { readConditions, readJson, readQuery } from './read.ts';
import { onlyMethods } from './refusing.ts';

/** The public service has separate paths for its newer kind of App; ours has one App behind both. */
const hosts = ['/v1/integrations/github', '/v1/integrations/forge/github'];
const listeners = '/v2/listeners';

/** Integrations, read-only, and listeners. */
export function integrationRoutes(): Hono<Env> {
  const routes = new Hono<Env>();
  for (const host of hosts) {
    routes.get(`${host}/install`, async (c) => c.json(await c.var.service.listIntegrations()));
    routes.all(`${host}/install`, onlyMethods('GET'));
    routes.get(`${host}/:id/repos`, async (c) => c.json(await c.var.service.listRepositories(c.req.param('id'))));
    routes.all(`${host}/:id/repos`, onlyMethods('GET'));
  }

  routes.get(listeners, async (c) => c.json(await c.var.service.listListeners(readQuery(c))));
  routes.post(listeners, async (c) =>
    c.json(await c.var.service.createListener(await readJson(c), readConditions(c)), 201),
  );
  routes.all(listeners, onlyMethods('GET', 'POST'));
  routes.get(`${listeners}/:id`, async (c) => c.json(await c.var.service.getListener(c.req.param('id'))));
  routes.patch(`${listeners}/:id`, async (c) =>
    c.json(await c.var.service.patchListener(c.req.param('id'), await readJson(c), readConditions(c))),
  );
  routes.delete(`${listeners}/:id`, async (c) => {
    await c.var.service.deleteListener(c.req.param('id'), readConditions(c));
    return c.body(null, 204);
  });
  routes.all(`${listeners}/:id`, onlyMethods('GET', 'PATCH', 'DELETE'));
  return routes;
}
