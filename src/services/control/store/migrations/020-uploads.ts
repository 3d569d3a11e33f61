import { sqlStep } from './sql-step.ts';

export const uploads = sqlStep(
  '020-uploads',
  `
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
);
