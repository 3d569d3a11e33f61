import { sqlStep } from './sql-step.ts';

export const writeKeys = sqlStep(
  '002-write-keys',
  `
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
);
