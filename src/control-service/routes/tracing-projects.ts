import { Hono } from 'hono';
import type { ControlStore } from '../store/store.ts';
import { takeRuns } from '../tracing/take-runs.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Env } from './env.ts';
import { readConditions, readJson, readQuery } from './read.ts';
import { onlyMethods } from './refusing.ts';

const all = '/v1/projects';
const one = '/v1/projects/:id';
const runs = '/v1/projects/:id/runs';
const run = '/v1/projects/:id/runs/:run';

/** What takes runs of agents in, where there is such a thing. */
export interface RunsIntake {
  store: Pick<ControlStore, 'hasTracingProject' | 'putTracedRuns'>;
  tracing: Tracing;
}

/** The one path of tracing projects that agents speak to. It wants the project's token, and no API key. */
export function runsIntakeRoutes(intake: RunsIntake): Hono<Env> {
  const routes = new Hono<Env>();
  routes.post(runs, async (c) => {
    const bearer = /^Bearer +(\S+)$/i.exec(c.req.header('authorization')?.trim() ?? '')?.[1];
    return c.json(await takeRuns(intake, c.req.param('id'), bearer, await readJson(c)));
  });
  return routes;
}

/** Tracing projects and their runs, to be read. */
export function tracingRoutes(): Hono<Env> {
  const routes = new Hono<Env>();
  routes.get(all, async (c) => c.json(await c.var.service.listProjects(readQuery(c))));
  routes.all(all, onlyMethods('GET'));
  routes.get(one, async (c) => c.json(await c.var.service.getProject(c.req.param('id'))));
  routes.delete(one, async (c) => {
    await c.var.service.deleteProject(c.req.param('id'), readConditions(c));
    return c.body(null, 204);
  });
  routes.all(one, onlyMethods('GET', 'DELETE'));
  routes.get(runs, async (c) => c.json(await c.var.service.listProjectRuns(c.req.param('id'), readQuery(c))));
  routes.all(runs, onlyMethods('GET', 'POST'));
  routes.get(run, async (c) => c.json(await c.var.service.getProjectRun(c.req.param('id'), c.req.param('run'))));
  routes.all(run, onlyMethods('GET'));
  return routes;
}
