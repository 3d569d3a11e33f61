import { sqlStep } from './sql-step.ts';

/** A row outlives its deployment: its user id is never reused, because files of it may remain anywhere. */
export const agentUsers = sqlStep(
  '040-agent-users',
  `
  create table control.agent_users (
    deployment_id uuid primary key,
    uid bigint not null unique
  );
  create sequence control.agent_uids minvalue 0;
  select setval('control.agent_uids', floor(random() * 100000000)::bigint);
`,
);
