import { sqlStep } from './sql-step.ts';

export const tracedRuns = sqlStep(
  '062-traced-runs',
  `
  alter table control.deployments add column tracing_project_id uuid;
  update control.deployments d set tracing_project_id = p.id
    from control.tracing_projects p where p.deployment_id = d.id;
  create index tracing_projects_in_order on control.tracing_projects (tenant_id, created_at desc, id);

  create table control.traced_runs (
    project_id uuid not null references control.tracing_projects on delete cascade,
    id uuid not null,
    thread_id uuid,
    assistant_id text not null,
    graph_id text not null,
    revision_id text,
    status text not null,
    error jsonb,
    tokens jsonb,
    created_at timestamptz not null,
    started_at timestamptz,
    ended_at timestamptz not null,
    primary key (project_id, id)
  );
  create index traced_runs_in_order on control.traced_runs (project_id, ended_at desc, id);
  create index traced_runs_by_age on control.traced_runs (ended_at);
`,
);
