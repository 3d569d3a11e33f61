import { sqlStep } from './sql-step.ts';

/** What smoke tests measured of revisions. */
export const baselines = sqlStep(
  '081-baselines',
  `
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
);
