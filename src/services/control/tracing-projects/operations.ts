import * as z from 'zod';
import { finalRunStatuses } from '../../../contract/agent/run.ts';
import {
  tracedRunResponse,
  tracedRunsQuery,
  tracedRunsReport,
  tracedRunsReceipt,
  tracingProject,
  tracingProjectsQuery,
} from '../../../contract/control/tracing-project.ts';
import { bearerToken } from '../api-keys/admit.ts';
import { operationsOf } from '../api/define-operation.ts';
import { idempotencyKey } from '../api/parameters.ts';
import { readJson } from '../api/request.ts';
import { takeRuns } from './receive-runs.ts';

const define = operationsOf('Tracing');

const all = '/v1/projects';
const one = `${all}/:project_id` as const;
const runs = `${one}/runs` as const;
const offset = z.int().min(0);
const run = z.looseObject({ ...tracedRunResponse.shape, id: z.uuid(), status: z.enum(finalRunStatuses) });

/** Tracing projects, and the runs that agents report. */
export const tracingOperations = [
  define.get(all, 'list_projects', {
    summary: 'List tracing projects',
    description: 'Each deployment has one, with its name; one may outlive its deployment.',
    query: tracingProjectsQuery,
    responses: {
      200: {
        description: 'A page of projects, newest first.',
        schema: z.object({ resources: z.array(tracingProject), offset }),
      },
    },
    call: (service, { query }) => service.listProjects(query),
  }),
  define.get(one, 'get_project', {
    summary: 'Read a tracing project',
    description: 'With the number of its runs and the time of the latest.',
    responses: { 200: { description: 'The project.', schema: tracingProject } },
    call: (service, { param }) => service.getProject(param('project_id')),
  }),
  define.delete(one, 'delete_project', {
    summary: 'Delete a tracing project with its runs',
    description: 'Refused while its deployment exists.',
    headers: [idempotencyKey],
    responses: { 204: { description: 'It is gone.' } },
    errors: [409],
    call: (service, { param, conditions }) => service.deleteProject(param('project_id'), conditions),
  }),
  define.get(runs, 'list_project_runs', {
    summary: 'List the runs of a tracing project',
    description: 'Without their steps, inputs and outputs.',
    query: tracedRunsQuery,
    responses: {
      200: {
        description: 'A page of runs, those that ended last first.',
        schema: z.object({ resources: z.array(run), offset }),
      },
    },
    call: (service, { param, query }) => service.listProjectRuns(param('project_id'), query),
  }),
  define.post(runs, 'tell_runs', {
    summary: 'Report finished runs',
    description: 'For agents: needs the token of the project as a bearer token, and no API key.',
    body: { schema: tracedRunsReport, required: true },
    responses: { 200: { description: 'How many of them were new.', schema: tracedRunsReceipt } },
    errors: [401, 404, 413, 415, 422],
    open: true,
    handle: async (c) => {
      const { runs: intake } = c.var.settings;
      if (!intake) return c.notFound();
      const bearer = bearerToken(c.req.header('authorization'));
      return c.json(await takeRuns(intake, c.req.param('project_id'), bearer, await readJson(c)));
    },
  }),
  define.get(`${runs}/:run_id`, 'get_project_run', {
    summary: 'Read a run of a tracing project',
    description: 'With its steps, its input and its output, cut where they are long.',
    responses: { 200: { description: 'The run.', schema: run } },
    call: (service, { param }) => service.getProjectRun(param('project_id'), param('run_id')),
  }),
];
