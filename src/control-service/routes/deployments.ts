import { Hono } from 'hono';
import type { FieldSpelling } from '../../contract/control/aliases.ts';
import { answer } from './send-response.ts';
import type { Env } from './env.ts';
import { readConditions, readJson, readQuery } from './read.ts';
import { onlyMethods } from './refusing.ts';

const all = '/v2/deployments';
const one = '/v2/deployments/:id';
const revisions = '/v2/deployments/:id/revisions';
const revision = '/v2/deployments/:id/revisions/:revision';

/** Deployments and their revisions. */
export function deploymentRoutes(fieldNames: FieldSpelling): Hono<Env> {
  const routes = new Hono<Env>();

  routes.post(all, async (c) =>
    answer(c, fieldNames, await c.var.service.createDeployment(await readJson(c), readConditions(c)), 201),
  );
  routes.get(all, async (c) => answer(c, fieldNames, await c.var.service.listDeployments(readQuery(c))));
  routes.delete(all, async (c) => {
    const done = await c.var.service.deleteDeployments(readQuery(c), readConditions(c));
    return c.json(done, done.failed.length > 0 ? 207 : 200);
  });
  routes.all(all, onlyMethods('GET', 'POST', 'DELETE'));

  routes.get(one, async (c) => answer(c, fieldNames, await c.var.service.getDeployment(c.req.param('id'))));
  routes.patch(one, async (c) =>
    answer(c, fieldNames, await c.var.service.patchDeployment(c.req.param('id'), await readJson(c), readConditions(c))),
  );
  routes.delete(one, async (c) => {
    await c.var.service.deleteDeployment(c.req.param('id'), readQuery(c), readConditions(c));
    return c.body(null, 204);
  });
  routes.all(one, onlyMethods('GET', 'PATCH', 'DELETE'));

  routes.get(revisions, async (c) =>
    answer(c, fieldNames, await c.var.service.listRevisions(c.req.param('id'), readQuery(c))),
  );
  routes.post(revisions, async (c) => {
    const body = (await readJson(c)) ?? {};
    return answer(c, fieldNames, await c.var.service.createRevision(c.req.param('id'), body, readConditions(c)), 201);
  });
  routes.all(revisions, onlyMethods('GET', 'POST'));

  routes.get(revision, async (c) =>
    answer(c, fieldNames, await c.var.service.getRevision(c.req.param('id'), c.req.param('revision'))),
  );
  routes.all(revision, onlyMethods('GET'));
  routes.post(`${revision}/redeploy`, async (c) =>
    answer(
      c,
      fieldNames,
      await c.var.service.redeployRevision(c.req.param('id'), c.req.param('revision'), readConditions(c)),
    ),
  );
  routes.all(`${revision}/redeploy`, onlyMethods('POST'));
  routes.post(`${revision}/interruption`, async (c) =>
    answer(
      c,
      fieldNames,
      await c.var.service.interruptRevision(c.req.param('id'), c.req.param('revision'), readConditions(c)),
    ),
  );
  routes.all(`${revision}/interruption`, onlyMethods('POST'));
  return routes;
}
