import { sqlStep } from './sql-step.ts';

/**
 * The cause and the commit of each revision, and the verdicts on it. Causes of existing revisions come from the audit
 * log, as far as it goes back. A redeploy is one of the build that was the latest or the live one at that time; every
 * other is a rollback.
 */
export const revisionHistory = sqlStep(
  '071-revision-history',
  `
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
);
