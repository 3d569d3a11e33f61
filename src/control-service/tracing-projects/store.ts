import type { Clock } from '../../clock.ts';
import type { TracedRun, TracingProjectsQuery } from '../../contract/control/tracing-project.ts';
import type { ControlDatabase } from '../store/tables.ts';
import {
  addTracingProject,
  findTracedRun,
  findTracingProject,
  hasTracingProject,
  listTracedRuns,
  listTracingProjects,
  putTracedRuns,
  removeTracingProject,
  tracingProject,
} from './repository.ts';
import type { TracedRunPage } from './repository.ts';

/** The store's operations on tracing projects and their runs; each is described at its definition. */
export const tracingStore = (db: ControlDatabase, clock: Clock) => ({
  addTracingProject: (tenantId: string, name: string) => addTracingProject(db, clock, tenantId, name),
  findTracingProject: (tenantId: string, name: string) => findTracingProject(db, tenantId, name),
  listTracingProjects: (tenantId: string, query: TracingProjectsQuery) => listTracingProjects(db, tenantId, query),
  tracingProject: (tenantId: string, id: string) => tracingProject(db, tenantId, id),
  hasTracingProject: (id: string) => hasTracingProject(db, id),
  removeTracingProject: (tenantId: string, id: string) => removeTracingProject(db, tenantId, id),
  putTracedRuns: (projectId: string, runs: readonly TracedRun[]) => putTracedRuns(db, projectId, runs),
  listTracedRuns: (projectId: string, page: TracedRunPage) => listTracedRuns(db, projectId, page),
  findTracedRun: (projectId: string, id: string) => findTracedRun(db, projectId, id),
});
