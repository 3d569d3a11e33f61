import { sqlStep } from './sql-step.ts';

export const listenerWork = sqlStep(
  '060-listener-work',
  `
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
);
