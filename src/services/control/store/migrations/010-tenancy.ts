import { sqlStep } from './sql-step.ts';

/** Keys get names, tenants of which they may have several, and a last use; what is changed is written down. */
export const tenancy = sqlStep(
  '010-tenancy',
  `
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
);
