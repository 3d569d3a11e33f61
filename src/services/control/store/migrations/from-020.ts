/** Uploads, deletion, logs, listeners and traced runs. */
export const migrationsFrom020 = {
  '020-uploads': `
  create table control.uploads (
    object_path text primary key,
    deployment_id uuid not null references control.deployments on delete cascade,
    expires_at timestamptz not null,
    digest text,
    bytes bigint,
    stored_at timestamptz,
    removed_at timestamptz,
    created_at timestamptz not null
  );
  create index uploads_of_deployment on control.uploads (deployment_id);
  create index uploads_by_age on control.uploads (stored_at) where removed_at is null;

  alter table control.revisions add column source_tarball_digest text;

  create table control.watched_branches (
    deployment_id uuid primary key references control.deployments on delete cascade,
    ref text not null,
    head text not null,
    seen_at timestamptz not null
  );
`,
  // What goes by its age is found by it, and revisions by the build that they name.
  '030-keeping': `
  create index log_lines_by_age on control.log_lines (at);
  create index revisions_by_build on control.revisions (build_folder) where build_folder is not null;
`,
  // A row outlives its deployment: its user id is never reused, because files of it may remain anywhere.
  '040-agent-users': `
  create table control.agent_users (
    deployment_id uuid primary key,
    uid bigint not null unique
  );
  create sequence control.agent_uids minvalue 0;
  select setval('control.agent_uids', floor(random() * 100000000)::bigint);
`,
  '050-deletion': `
  alter table control.deployments
    add column deletion text not null default 'none' check (deletion in ('none', 'asked', 'stopped')),
    add column delete_tracing_project boolean not null default false,
    add column deletion_problem text;
  create index deployments_to_delete on control.deployments (id) where deletion <> 'none';
`,
  // Notifies the channel `landfall_log` of a revision with more lines, another status, or that is no longer the live
  // one.
  '051-log-changes': `
  create function control.tell_lines() returns trigger language plpgsql as $$
  begin
    perform pg_notify('landfall_log', revision_id::text) from (select distinct revision_id from added) as changed;
    return null;
  end $$;
  create trigger log_lines_told after insert on control.log_lines
    referencing new table as added for each statement execute function control.tell_lines();

  create function control.tell_status() returns trigger language plpgsql as $$
  begin
    perform pg_notify('landfall_log', old.id::text);
    return null;
  end $$;
  create trigger revisions_told after update of status on control.revisions
    for each row when (old.status is distinct from new.status) execute function control.tell_status();
  create trigger revisions_gone_told after delete on control.revisions
    for each row execute function control.tell_status();

  create function control.tell_former() returns trigger language plpgsql as $$
  begin
    perform pg_notify('landfall_log', old.active_revision_id::text);
    return null;
  end $$;
  create trigger former_told after update of active_revision_id on control.deployments
    for each row when (old.active_revision_id is not null and old.active_revision_id is distinct from new.active_revision_id)
    execute function control.tell_former();
`,
  '060-listener-work': `
  alter table control.deployments
    add column listener_id uuid generated always as ((source_config ->> 'listener_id')::uuid) stored;
  alter table control.deployments
    add constraint deployments_listener foreign key (listener_id) references control.listeners;
  create index deployments_of_listener on control.deployments (listener_id) where listener_id is not null;

  create table control.listener_claims (
    deployment_id uuid primary key references control.deployments on delete cascade,
    id uuid not null unique,
    listener_id uuid not null references control.listeners on delete cascade,
    work text not null,
    revision_id uuid references control.revisions on delete cascade,
    is_resumed boolean not null,
    holder text not null,
    namespace text,
    lease_ms integer not null,
    log_sequence bigint not null,
    claimed_at timestamptz not null,
    expires_at timestamptz not null,
    ended_as text
  );
`,
  '061-github-installations': `
  create table control.github_installations (
    id bigint primary key,
    account text not null,
    is_suspended boolean not null,
    is_gone boolean not null,
    seen_at timestamptz not null
  );
  alter table control.integrations add column unbound_at timestamptz;
`,
  '062-traced-runs': `
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
  // Databases that exist keep their names, which hold the deployment's id, until the service's next start renames them.
  '063-database-names': `
  alter table control.deployments add column database_name text;
  update control.deployments set database_name = 'landfall_agent_' || replace(id::text, '-', '');
  alter table control.deployments alter column database_name set not null;
  create unique index deployments_database_name on control.deployments (database_name);
`,
  // The contract has one status of a deletion (docs/design/contract.md#states); `deletion` has its state.
  '064-deletion-status':
    "update control.deployments set status = 'AWAITING_DELETE' where status = 'AWAITING_FINAL_DELETE';",
};
