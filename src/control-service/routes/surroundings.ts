import { Hono } from 'hono';
import type { Env } from './env.ts';
import { readQuery } from './read.ts';
import { notOffered, onlyMethods } from './refusing.ts';

const install = '/v1/integrations/github/install';
const repositories = '/v1/integrations/github/:id/repos';
const listeners = '/v2/listeners';

/** Integrations and listeners, to be read. */
export function surroundingsRoutes(): Hono<Env> {
  const routes = new Hono<Env>();
  routes.get(install, async (c) => c.json(await c.var.service.listIntegrations()));
  routes.all(install, onlyMethods('GET'));
  routes.get(repositories, async (c) => c.json(await c.var.service.listRepositories(c.req.param('id'))));
  routes.all(repositories, onlyMethods('GET'));

  routes.get(listeners, async (c) => c.json(await c.var.service.listListeners(readQuery(c))));
  routes.post(listeners, notOffered('Making listeners'));
  routes.all(listeners, onlyMethods('GET'));
  routes.get(`${listeners}/:id`, async (c) => c.json(await c.var.service.getListener(c.req.param('id'))));
  routes.patch(`${listeners}/:id`, notOffered('Changing listeners'));
  routes.delete(`${listeners}/:id`, notOffered('Deleting listeners'));
  routes.all(`${listeners}/:id`, onlyMethods('GET'));
  return routes;
}
