import { sqlStep } from './sql-step.ts';

export const tables = sqlStep(
  '001-tables',
  `
  create table control.tenants (
    id uuid primary key,
    name text not null,
    created_at timestamptz not null
  );

  create table control.api_keys (
    id text primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    hash bytea not null,
    created_at timestamptz not null,
    revoked_at timestamptz
  );

  create table control.deployments (
    id uuid primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    name text not null,
    source text not null,
    source_config jsonb not null,
    source_revision_config jsonb not null,
    secrets jsonb not null,
    secret_references jsonb,
    database_state text not null,
    database_password text not null,
    status text not null,
    latest_revision_id uuid,
    active_revision_id uuid,
    image_version text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint deployments_name unique (tenant_id, name)
  );
  create index deployments_in_order on control.deployments (tenant_id, created_at desc, id);

  create table control.revisions (
    id uuid primary key,
    sequence bigint generated always as identity unique,
    deployment_id uuid not null references control.deployments on delete cascade,
    status text not null,
    status_message text,
    source text not null,
    source_config jsonb not null,
    source_revision_config jsonb not null,
    secrets jsonb not null,
    secret_references jsonb,
    repo_commit_sha text,
    build_folder text,
    redeploy_of uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create index revisions_in_order on control.revisions (deployment_id, sequence desc);
  create index revisions_unfinished on control.revisions (deployment_id) where status in
    ('CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING');
  create unique index revisions_one_running on control.revisions (deployment_id) where status in
    ('AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING');

  alter table control.deployments
    add foreign key (latest_revision_id) references control.revisions deferrable initially deferred,
    add foreign key (active_revision_id) references control.revisions deferrable initially deferred;

  create table control.revision_events (
    id bigint generated always as identity primary key,
    revision_id uuid not null references control.revisions on delete cascade,
    status text not null,
    message text,
    at timestamptz not null
  );
  create index revision_events_of_revision on control.revision_events (revision_id, id);

  create table control.log_lines (
    id bigint generated always as identity primary key,
    revision_id uuid not null references control.revisions on delete cascade,
    kind text not null,
    level text not null,
    message text not null,
    at timestamptz not null
  );
  create index log_lines_in_order on control.log_lines (revision_id, kind, id);

  create table control.listeners (
    id uuid primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    version text,
    compute_type text not null,
    compute_id text not null,
    compute_config jsonb not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint listeners_compute unique (tenant_id, compute_id)
  );

  create table control.integrations (
    id uuid primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    installation_id bigint not null,
    name text not null,
    created_at timestamptz not null,
    constraint integrations_installation unique (tenant_id, installation_id)
  );

  create table control.repositories (
    integration_id uuid not null references control.integrations on delete cascade,
    id bigint not null,
    name text not null,
    owner text not null,
    url text not null,
    default_branch text,
    primary key (integration_id, id)
  );

  create table control.tracing_projects (
    id uuid primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    name text not null,
    deployment_id uuid references control.deployments on delete set null,
    created_at timestamptz not null,
    constraint tracing_projects_name unique (tenant_id, name)
  );
`,
);
