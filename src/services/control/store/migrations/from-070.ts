/** Sessions, the history of revisions, figures, holds and baselines. */
export const migrationsFrom070 = {
  // Sessions of browsers. One ends where its key loses the tenant.
  '070-sessions': `
  create table control.sessions (
    hash bytea primary key,
    key_id text not null,
    tenant_id uuid not null,
    created_at timestamptz not null,
    last_used_at timestamptz not null,
    foreign key (tenant_id, key_id) references control.key_tenants on delete cascade
  );
  create index sessions_of_key on control.sessions (key_id, created_at desc);
  create index sessions_of_tenant on control.sessions (tenant_id, key_id);
  create index sessions_by_use on control.sessions (last_used_at);
`,
  // The cause and the commit of each revision, and the verdicts on it. Causes of existing revisions come from the audit
  // log, as far as it goes back. A redeploy is one of the build that was the latest or the live one at that time; every
  // other is a rollback.
  '071-revision-history': `
  alter table control.revisions
    add column cause text not null default 'unknown',
    add column cause_actor text not null default 'unknown',
    add column cause_key_id text,
    add column cause_key_name text,
    add column commit_subject text,
    add column commit_author text,
    add column commit_authored_at timestamptz;

  update control.revisions r set
    cause = case a.operation
      when 'create deployment' then 'create'
      when 'patch deployment' then 'patch'
      when 'create revision' then 'patch'
      when 'build push' then 'push'
      when 'redeploy revision' then case
        when r.redeploy_of = (
          select before.id from control.revisions before
          where before.deployment_id = r.deployment_id and before.sequence < r.sequence
          order by before.sequence desc limit 1
        ) or r.redeploy_of = (
          select e.revision_id from control.revision_events e
          join control.revisions live on live.id = e.revision_id
          where live.deployment_id = r.deployment_id and live.sequence < r.sequence
            and e.status = 'DEPLOYED' and e.at <= r.created_at
          order by e.id desc limit 1
        ) then 'redeploy'
        else 'rollback' end
      else 'unknown' end,
    cause_actor = a.actor,
    cause_key_id = a.key_id,
    cause_key_name = a.key_name
  from control.audit a
  where a.subject ->> 'revision_id' = r.id::text
    and a.operation in ('create deployment', 'patch deployment', 'create revision', 'build push', 'redeploy revision');

  create table control.verdicts (
    id uuid primary key,
    sequence bigint generated always as identity,
    deployment_id uuid not null references control.deployments on delete cascade,
    revision_id uuid not null references control.revisions on delete cascade,
    revision_sequence bigint not null,
    kind text not null,
    reporter text not null,
    details_url text,
    tests jsonb not null,
    created_at timestamptz not null
  );
  create index verdicts_of_revision on control.verdicts (revision_id, sequence desc);
  create index verdicts_of_deployment on control.verdicts (deployment_id, revision_sequence desc, sequence desc);

  create index audit_of_deployment on control.audit ((subject ->> 'deployment_id'), id desc)
    where operation <> 'report verdict';
`,
  '072-health': `
  create table control.health_figures (
    deployment_id uuid not null references control.deployments on delete cascade,
    step_seconds integer not null,
    at timestamptz not null,
    requests integer not null,
    errors integer not null,
    runs integer not null,
    failed_runs integer not null,
    run_times integer[],
    first_events integer[],
    memory_bytes bigint,
    cpu_ms integer not null,
    sampled_ms integer not null,
    queue_length integer,
    primary key (deployment_id, step_seconds, at)
  );
  create index health_figures_by_age on control.health_figures (step_seconds, at);

  create function control.add_counts(one integer[], other integer[]) returns integer[]
    language sql immutable strict parallel safe as $$
      select array(
        select coalesce(a, 0) + coalesce(b, 0)
        from unnest(one, other) with ordinality as each (a, b, place) order by place
      )
    $$;
  create aggregate control.total_counts(integer[]) (sfunc = control.add_counts, stype = integer[], parallel = safe);
`,
  // What a run received, made and did. Runs are searched by thread too; those of before have none of the new values.
  '073-traced-steps': `
  alter table control.traced_runs add column input jsonb, add column output jsonb, add column steps jsonb,
    add column is_cut boolean not null default false;
  create index traced_runs_of_thread on control.traced_runs (project_id, thread_id, ended_at desc) where thread_id is not null;
`,
  '074-listener-reports': 'alter table control.listeners add column last_report_at timestamptz;',
  // Revisions that are held before traffic: for how long, until when, and what was decided.
  '080-holds': `
  alter table control.revisions
    add column hold_seconds integer,
    add column hold_ends_at timestamptz,
    add column hold_decision text,
    add column hold_why text;
`,
  // What smoke tests measured of revisions.
  '081-baselines': `
  create table control.baselines (
    revision_id uuid not null references control.revisions on delete cascade,
    test_hash text not null,
    deployment_id uuid not null references control.deployments on delete cascade,
    sequence bigint generated always as identity,
    answers jsonb not null,
    taken_at timestamptz not null,
    primary key (revision_id, test_hash)
  );
  create index baselines_of_deployment on control.baselines (deployment_id, sequence desc);
`,
  // What lists of runs show of each, and how many runs were interrupted. Runs of before have no previews.
  '083-run-previews': `
  alter table control.traced_runs add column trigger text, add column input_preview text, add column output_preview text;
  alter table control.health_figures add column interrupted_runs integer not null default 0;
`,
  // What the build of a revision warned of.
  '084-build-warnings': `alter table control.revisions add column build_warnings text[] not null default '{}'`,
  // What a key may do, and until when. Keys of before may do everything, as they could.
  '085-key-scopes': `
  alter table control.api_keys
    add column scopes text[] not null default '{admin}',
    add column expires_at timestamptz;
`,
  // Whose tokens are exchanged for keys, and which tokens were.
  '086-trust-policies': `
  create table control.trust_policies (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references control.tenants on delete cascade,
    name text not null,
    issuer text not null,
    audience text not null,
    claims jsonb not null,
    scopes text[] not null,
    key_minutes integer not null,
    created_at timestamptz not null,
    last_used_at timestamptz
  );
  create index trust_policies_of_issuer on control.trust_policies (issuer);
  create index trust_policies_of_tenant on control.trust_policies (tenant_id);
  create table control.used_tokens (digest bytea primary key, expires_at timestamptz not null);
`,
  // Builds that other deployments deploy too.
  '087-copied-builds': `
  alter table control.revisions
    add column build_of uuid,
    add column build_digest text;
`,
  // After how long an agent without a request is scaled to zero.
  '088-idle-agents': 'alter table control.deployments add column idle_after_seconds integer;',
  // Which deployments are previews of pull requests. Those of before are known by the form of their names.
  '089-previews': `
  alter table control.deployments add column is_preview boolean not null default false;
  update control.deployments set is_preview = name ~ '-pr-[1-9][0-9]*-[0-9a-f]{16}$';
  create index previews_of_tenant on control.deployments (tenant_id) where is_preview;
`,
};
