import { sqlStep } from './sql-step.ts';

/** Sessions of browsers. One ends where its key loses the tenant. */
export const sessions = sqlStep(
  '070-sessions',
  `
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
);
