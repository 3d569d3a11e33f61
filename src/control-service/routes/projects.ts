import { Hono } from 'hono';
import type { Env } from './env.ts';
import { readJson } from './read.ts';
import { onlyMethods } from './refusing.ts';

const revision = '/v1/projects/:id/revisions/:revision';
const ofAll = '/v1/projects/:id/deploy_logs';

/** The logs of revisions; a deployment's project has the deployment's id. */
export function projectRoutes(): Hono<Env> {
  const routes = new Hono<Env>();
  routes.post(`${revision}/build_logs`, async (c) =>
    c.json(await c.var.service.buildLogs(c.req.param('id'), c.req.param('revision'), await readJson(c))),
  );
  routes.post(`${revision}/deploy_logs`, async (c) =>
    c.json(await c.var.service.deployLogs(c.req.param('id'), c.req.param('revision'), await readJson(c))),
  );
  routes.post(ofAll, async (c) => c.json(await c.var.service.deployLogsOfAll(c.req.param('id'), await readJson(c))));
  routes.all(ofAll, onlyMethods('POST'));
  for (const log of ['build_logs', 'deploy_logs']) routes.all(`${revision}/${log}`, onlyMethods('POST'));
  return routes;
}
