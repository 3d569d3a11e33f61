import { randomUUID } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import type { FinalRunStatus } from '../../../contract/agent/run.ts';
import type { TracedRun, TracingProjectsQuery } from '../../../contract/control/tracing-project.ts';
import { inputPreview, outputPreview } from '../../../contract/agent/run-preview.ts';
import { addFigures } from '../health/repository.ts';
import { figuresOfRuns } from '../health/figures.ts';
import { defaultPageSize } from '../deployments/queries.ts';
import { inTransaction } from '../store/statements.ts';
import type { ControlDatabase, TracingProjectsTable } from '../store/tables.ts';
import type { TracedRunsTable } from '../store/report-tables.ts';

/** A tracing project with its run counts. */
export interface CountedProject extends TracingProject {
  run_count: number;
  last_run_at: Date | null;
}

type TracingProject = Pick<Selectable<TracingProjectsTable>, 'id' | 'name' | 'deployment_id' | 'created_at'>;

const projects = (db: ControlDatabase, tenantId: string) =>
  db
    .selectFrom('tracing_projects')
    .select(['id', 'name', 'deployment_id', 'created_at'])
    .where('tenant_id', '=', tenantId);

async function withCounts(db: ControlDatabase, page: readonly TracingProject[]): Promise<CountedProject[]> {
  if (page.length === 0) return [];
  const ids = page.map(({ id }) => id);
  const counts = await db
    .selectFrom('traced_runs')
    .select(['project_id', (of) => of.fn.countAll<string>().as('runs'), (of) => of.fn.max('ended_at').as('last')])
    .where('project_id', 'in', ids)
    .groupBy('project_id')
    .execute();
  const byId = new Map(counts.map((each) => [each.project_id, each]));
  return page.map((project) => {
    const of = byId.get(project.id);
    return { ...project, run_count: Number(of?.runs ?? 0), last_run_at: of?.last ?? null };
  });
}

/** The outcome of removing a tracing project; undefined when there is no such project. */
export type ProjectRemovalEnd =
  { kind: 'removed'; name: string } | { kind: 'in-use'; deploymentId: string } | undefined;
/** A run without its input, output and steps, as lists have it. */
export type TracedRunRecord = Omit<TracedRunDetail, 'input' | 'output' | 'steps' | 'is_cut'>;
export type TracedRunDetail = Selectable<TracedRunsTable>;

const listed = [
  'project_id',
  'id',
  'thread_id',
  'assistant_id',
  'graph_id',
  'revision_id',
  'status',
  'error',
  'tokens',
  'trigger',
  'input_preview',
  'output_preview',
  'created_at',
  'started_at',
  'ended_at',
] as const satisfies readonly (keyof TracedRunRecord)[];

export interface TracedRunPage {
  limit?: number | undefined;
  offset?: number | undefined;
  statuses?: readonly FinalRunStatus[] | undefined;
  assistant_id?: string | undefined;
  thread_id?: string | undefined;
  revision_id?: string | undefined;
  /** Of their end: from this time on, and until before that one. */
  from?: Date | undefined;
  until?: Date | undefined;
  /** A text in the error, in any case. */
  query?: string | undefined;
}

const errorHolds = (query: string) => {
  const holds = (key: string) => sql`strpos(lower(error ->> ${key}), lower(${query})) > 0`;
  return sql<boolean>`error is not null and (${holds('error')} or ${holds('message')})`;
};

export const tracingStore = (db: ControlDatabase, clock: Clock) => ({
  /** Creates a tracing project without a deployment. */
  async addTracingProject(tenantId: string, name: string): Promise<string> {
    const id = randomUUID();
    await db
      .insertInto('tracing_projects')
      .values({ id, tenant_id: tenantId, name, deployment_id: null, created_at: new Date(clock.now()) })
      .execute();
    return id;
  },

  async findTracingProject(tenantId: string, name: string): Promise<TracingProject | undefined> {
    return projects(db, tenantId).where('name', '=', name).executeTakeFirst();
  },

  /** A page of a tenant's tracing projects, newest first. */
  async listTracingProjects(
    tenantId: string,
    { limit = defaultPageSize, offset = 0, name, name_contains }: TracingProjectsQuery,
  ): Promise<CountedProject[]> {
    let select = projects(db, tenantId);
    if (name !== undefined) select = select.where('name', '=', name);
    if (name_contains !== undefined) select = select.where(sql<number>`strpos(name, ${name_contains})`, '>', 0);
    const page = await select.orderBy('created_at', 'desc').orderBy('id').limit(limit).offset(offset).execute();
    return withCounts(db, page);
  },

  async tracingProject(tenantId: string, id: string): Promise<CountedProject | undefined> {
    const [found] = await withCounts(db, await projects(db, tenantId).where('id', '=', id).execute());
    return found;
  },

  /** Removes a project with its runs, unless its deployment exists. */
  async removeTracingProject(tenantId: string, id: string): Promise<ProjectRemovalEnd> {
    const removed = await db
      .deleteFrom('tracing_projects')
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .where('deployment_id', 'is', null)
      .returning('name')
      .executeTakeFirst();
    if (removed) return { kind: 'removed', name: removed.name };
    const project = await projects(db, tenantId).where('id', '=', id).executeTakeFirst();
    return project?.deployment_id == null ? undefined : { kind: 'in-use', deploymentId: project.deployment_id };
  },

  /** Stores finished runs, and counts the new ones in the health figures; an existing one stays as it is. Returns how many are new. */
  async putTracedRuns(projectId: string, runs: readonly TracedRun[]): Promise<number> {
    if (runs.length === 0) return 0;
    const rows = runs.map(
      ({ error, tokens, created_at, started_at, ended_at, input, output, steps, is_cut, ...run }) => ({
        ...run,
        input: jsonOf(input),
        output: jsonOf(output),
        steps: jsonOf(steps),
        is_cut: is_cut === true,
        trigger: run.trigger ?? null,
        input_preview: inputPreview(input) ?? null,
        output_preview: outputPreview(output) ?? null,
        project_id: projectId,
        error: error && JSON.stringify(error),
        tokens: tokens && JSON.stringify(tokens),
        created_at: new Date(created_at),
        started_at: started_at === null ? null : new Date(started_at),
        ended_at: new Date(ended_at),
      }),
    );
    return inTransaction(db, async (trx) => {
      const kept = await trx
        .insertInto('traced_runs')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .execute();
      const added = new Set(kept.map(({ id }) => id));
      const project = await trx
        .selectFrom('tracing_projects')
        .select('deployment_id')
        .where('id', '=', projectId)
        .executeTakeFirst();
      if (project?.deployment_id != null) {
        // Of several runs with one id, the first is stored.
        const fresh = runs.filter(({ id }) => added.delete(id.toLowerCase()));
        await addFigures(trx, figuresOfRuns(project.deployment_id, fresh, clock.now()));
      }
      return kept.length;
    });
  },

  /** A page of a project's runs, the last finished first. */
  async listTracedRuns(
    projectId: string,
    {
      limit = defaultPageSize,
      offset = 0,
      statuses,
      assistant_id,
      thread_id,
      revision_id,
      from,
      until,
      query,
    }: TracedRunPage,
  ): Promise<TracedRunRecord[]> {
    if (statuses?.length === 0) return [];
    let select = db.selectFrom('traced_runs').select(listed).where('project_id', '=', projectId);
    if (statuses) select = select.where('status', 'in', statuses);
    if (assistant_id !== undefined) select = select.where('assistant_id', '=', assistant_id);
    if (thread_id !== undefined) select = select.where('thread_id', '=', thread_id);
    if (revision_id !== undefined) select = select.where('revision_id', '=', revision_id);
    if (from !== undefined) select = select.where('ended_at', '>=', from);
    if (until !== undefined) select = select.where('ended_at', '<', until);
    if (query !== undefined) select = select.where(errorHolds(query));
    return select.orderBy('ended_at', 'desc').orderBy('id').limit(limit).offset(offset).execute();
  },

  findTracedRun: (projectId: string, id: string): Promise<TracedRunDetail | undefined> =>
    db
      .selectFrom('traced_runs')
      .select([...listed, 'input', 'output', 'steps', 'is_cut'])
      .where('project_id', '=', projectId)
      .where('id', '=', id)
      .executeTakeFirst(),
});

const jsonOf = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value);
