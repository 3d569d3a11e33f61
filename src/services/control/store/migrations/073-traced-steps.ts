import { sqlStep } from './sql-step.ts';

/** What a run received, made and did. Runs are searched by thread too; those of before have none of the new values. */
export const tracedSteps = sqlStep(
  '073-traced-steps',
  `
  alter table control.traced_runs add column input jsonb, add column output jsonb, add column steps jsonb,
    add column is_cut boolean not null default false;
  create index traced_runs_of_thread on control.traced_runs (project_id, thread_id, ended_at desc) where thread_id is not null;
`,
);
