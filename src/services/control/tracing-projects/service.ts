import * as z from 'zod';
import type { WriteOptions } from '../../../contract/control/service.ts';
import {
  tracedRunsQuery,
  tracingProjectsQuery,
  type TracedRunResponse,
  type TracedRunsList,
  type TracingProject,
  type TracingProjectsList,
} from '../../../contract/control/tracing-project.ts';
import type { CountedProject, TracedRunDetail, TracedRunRecord } from './repository.ts';
import { Call, createIdempotentWrite } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { finalRunStatuses } from '../../../contract/agent/run.ts';
import { statusesOf } from '../validation/queries.ts';

/**
 * Tracing projects and the runs that agents report (ours: docs/design/contract.md#deployments only says that each
 * deployment gets one).
 */
export function tracingOperations(settings: ServiceDependencies) {
  const { store, tenantId } = settings;
  const once = createIdempotentWrite(settings);

  async function own(call: Call, id: string): Promise<CountedProject> {
    const projectId = call.id('project_id', id);
    return call.found('Tracing project', id, await store.tracingProject(tenantId, projectId));
  }

  return {
    async listProjects(query: unknown): Promise<TracingProjectsList> {
      const call = new Call('list tracing projects', 'GET', '/v1/projects');
      const page = call.query(tracingProjectsQuery, query);
      const projects = await store.listTracingProjects(tenantId, page);
      return { resources: projects.map(toProjectResponse), offset: (page.offset ?? 0) + projects.length };
    },

    async getProject(id: string): Promise<TracingProject> {
      return toProjectResponse(await own(new Call('get tracing project', 'GET', `/v1/projects/${id}`), id));
    },

    async listProjectRuns(id: string, query: unknown): Promise<TracedRunsList> {
      const call = new Call('list traced runs', 'GET', `/v1/projects/${id}/runs`);
      const page = call.query(tracedRunsPage, query);
      const project = await own(call, id);
      const runs = await store.listTracedRuns(project.id, page);
      return { resources: runs.map(toRunResponse), offset: (page.offset ?? 0) + runs.length };
    },

    async getProjectRun(id: string, runId: string): Promise<TracedRunResponse> {
      const call = new Call('get traced run', 'GET', `/v1/projects/${id}/runs/${runId}`);
      const wanted = call.id('run_id', runId);
      const project = await own(call, id);
      return toDetailResponse(call.found('Run', runId, await store.findTracedRun(project.id, wanted)));
    },

    /** DELETE /v1/projects/{id}: with all its runs. Refused while its deployment exists, which still reports runs. */
    async deleteProject(id: string, { idempotencyKey }: WriteOptions = {}): Promise<void> {
      const call = new Call('delete tracing project', 'DELETE', `/v1/projects/${id}`);
      const projectId = call.id('project_id', id);
      await once(call, { idempotencyKey, shape: z.null() }, async (within, record) => {
        const end = call.found('Tracing project', id, await within.removeTracingProject(tenantId, projectId));
        if (end.kind === 'in-use') throw call.refusal({ status: 409, detail: inUse(end.deploymentId) });
        await record({ tracing_project_id: projectId, tracing_project_name: end.name });
        return null;
      });
    },
  };
}

const inUse = (deploymentId: string): string =>
  `This is the tracing project of the deployment ${deploymentId}. Delete that first: DELETE /v2/deployments/${deploymentId}?delete_tracing_project=true takes both.`;

const toProjectResponse = ({ created_at, last_run_at, ...project }: CountedProject): TracingProject => ({
  ...project,
  created_at: created_at.toISOString(),
  last_run_at: last_run_at?.toISOString() ?? null,
});

function toRunResponse(record: TracedRunRecord): TracedRunResponse {
  const { project_id: _, ...run } = record;
  return {
    ...run,
    created_at: run.created_at.toISOString(),
    started_at: run.started_at?.toISOString() ?? null,
    ended_at: run.ended_at.toISOString(),
  };
}

const toDetailResponse = ({ input, output, is_cut, steps, ...run }: TracedRunDetail): TracedRunResponse => ({
  ...toRunResponse(run),
  input,
  output,
  steps: steps ?? [],
  is_cut,
});

/** The query of a project's runs: `status` has comma-separated values. */
const tracedRunsPage = tracedRunsQuery.transform(({ status, from, until, ...query }, context) => ({
  ...query,
  from: from === undefined ? undefined : new Date(from),
  until: until === undefined ? undefined : new Date(until),
  statuses: statusesOf(status, finalRunStatuses, context),
}));
