import { Hono } from 'hono';
import type { Env } from './env.ts';
import { readJson, readQuery } from './read.ts';
import { onlyMethods } from './refusing.ts';

const claims = '/v2/listeners/:id/claims';
const claim = '/v2/listeners/:id/claims/:claim';

/** The work of listeners; see `contract/control/listener-work.ts`. */
export function listenerWorkRoutes(): Hono<Env> {
  const routes = new Hono<Env>();
  routes.post(claims, async (c) => {
    const { signal } = c.req.raw;
    const work = await c.var.service.claimWork(c.req.param('id'), await readJson(c), { signal });
    return work ? c.json(work) : c.body(null, 204);
  });
  routes.all(claims, onlyMethods('POST'));

  routes.delete(claim, async (c) => {
    await c.var.service.releaseClaim(c.req.param('id'), c.req.param('claim'), readQuery(c));
    return c.body(null, 204);
  });
  routes.all(claim, onlyMethods('DELETE'));

  routes.post(`${claim}/renewal`, async (c) =>
    c.json(await c.var.service.renewClaim(c.req.param('id'), c.req.param('claim'))),
  );
  routes.all(`${claim}/renewal`, onlyMethods('POST'));

  routes.put(`${claim}/status`, async (c) =>
    c.json(await c.var.service.reportWork(c.req.param('id'), c.req.param('claim'), await readJson(c))),
  );
  routes.all(`${claim}/status`, onlyMethods('PUT'));
  return routes;
}
