/** Tenants, keys, deployments and revisions. */
export const migrationsFrom001 = {
  '001-tables': `
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
  '002-write-keys': `
  create table control.write_keys (
    tenant_id uuid not null references control.tenants on delete cascade,
    key text not null,
    request text not null,
    digest bytea not null,
    deployment_id uuid references control.deployments on delete cascade,
    revision_id uuid references control.revisions on delete cascade,
    created_at timestamptz not null,
    primary key (tenant_id, key)
  );
  create index write_keys_by_age on control.write_keys (created_at);
`,
  // Keys get names, tenants of which they may have several, and a last use; what is changed is written down.
  '010-tenancy': `
  alter table control.api_keys
    add column name text not null default 'unnamed',
    add column is_kept boolean not null default false,
    add column last_used_at timestamptz;

  create table control.key_tenants (
    tenant_id uuid not null references control.tenants on delete cascade,
    key_id text not null references control.api_keys on delete cascade,
    primary key (tenant_id, key_id)
  );
  create index key_tenants_of_key on control.key_tenants (key_id);
  insert into control.key_tenants (tenant_id, key_id) select tenant_id, id from control.api_keys;
  alter table control.api_keys drop column tenant_id;

  create table control.audit (
    id bigint generated always as identity primary key,
    tenant_id uuid not null references control.tenants on delete cascade,
    at timestamptz not null,
    actor text not null,
    key_id text,
    key_name text,
    operation text not null,
    subject jsonb not null,
    fields jsonb not null
  );
  create index audit_in_order on control.audit (tenant_id, id desc);
  create index audit_by_age on control.audit (at);
`,
  // Every kind of write is known by its key, and stays known when what it made is deleted.
  '011-answered-writes': `
  alter table control.write_keys
    add column done boolean not null default false,
    add column answer text,
    drop constraint write_keys_deployment_id_fkey,
    drop constraint write_keys_revision_id_fkey,
    add foreign key (deployment_id) references control.deployments on delete set null,
    add foreign key (revision_id) references control.revisions on delete set null;
  update control.write_keys set done = true;
`,
};
